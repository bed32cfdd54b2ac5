import { caches } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../src/transport/endpoint/http.ts'
import { cacheOn, compose, deadline } from './layers.ts'

describe('caches.json', () => {
  test.each(caches.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', async ({ options, calls }) => {
    let result: unknown
    let requests = 0
    const endpoint: Endpoint = {
      redactedUrl: 'https://node.example/…',
      close: () => {},
      send: (_, complete) => {
        requests++
        complete(true, result)
      },
    }
    const transport = compose(endpoint, cacheOn(undefined, options), deadline())
    for (const { method, params, result: given, cached = false } of calls) {
      const before = requests
      result = cached ? 'not from the cache' : given
      expect(await transport.request({ method, params })).toEqual(given)
      expect(requests - before, method).toBe(cached ? 0 : 1)
    }
    transport.close()
  })
})
