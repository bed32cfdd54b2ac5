import { expect, test } from 'vitest'
import { readServiceEnvironment } from './serviceEnvironment.ts'
import type { ServiceConfig } from './serviceConfig.ts'

const storage = { file: 'keyrail.db' }
const read = (cache: ServiceConfig['cache'], cacheRedisUrl?: string) =>
  readServiceEnvironment(
    { storage, ...(cache === undefined ? {} : { cache }) },
    { KEYRAIL_SECRET: 's'.repeat(32), CACHE_REDIS_URL: cacheRedisUrl },
  )
const options = { maxBytes: 1e9, confirm: false }
const url = 'redis://:topsecret@cache:6379/0'

test('the chain store is in a file, in the Redis of CACHE_REDIS_URL, or nowhere', () => {
  expect(read({ ...options, file: 'cache.db' }).cacheRedisUrl).toBeUndefined()
  expect(read(options, url).cacheRedisUrl).toBe(url)
  expect(read(undefined, url).cacheRedisUrl).toBe(url)
  expect(read(undefined, '').cacheRedisUrl).toBeUndefined()
})

test('a chain store in both places, or without one, is an error that says how to fix it', () => {
  expect(() => read({ ...options, file: 'cache.db' }, url)).toThrow(
    'CACHE_REDIS_URL and cache.file are both set, but the chain store is either in Redis or in a file: remove one of them',
  )
  expect(() => read(options)).toThrow(
    'cache.file is missing: set it to the path of the file of the chain store, or set CACHE_REDIS_URL to the URL of a Redis',
  )
})

test('a wrong CACHE_REDIS_URL is an error without its password', () => {
  expect(() => read(undefined, 'http://:topsecret@cache')).toThrow(
    /^(?!.*topsecret).*CACHE_REDIS_URL must be a URL such as/s,
  )
})
