import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { describeFault } from '../../src/errors/faultLog.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import { getFreePort } from '../getFreePort.ts'
import { startRedis } from '../usage/startRedis.ts'
import type { TestRedis } from '../usage/startRedis.ts'

/** Gets the fault that a ping of this Redis logs. */
const getFault = async (url: string): Promise<unknown> => {
  const link = openRedis(url)
  try {
    return await link.ping().then(
      () => 'it works',
      (error: unknown) => describeFault(error),
    )
  } finally {
    await link.close()
  }
}

describe('Redis that does not work says why, rather than "other"', needs('redis-server'), () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('with the right password', async () => {
    expect(await getFault(redis.url)).toBe('it works')
  })

  test('with a wrong password', async () => {
    expect(await getFault(redis.url.replace(redis.password, 'topsecret'))).toEqual({
      code: 'WRONGPASS',
      cause: 'its user or password is wrong: correct REDIS_URL',
    })
  })

  test('without a password', async () => {
    expect(await getFault(redis.url.replace(`:${redis.password}@`, ''))).toMatchObject({ code: 'NOAUTH' })
  })

  test('on a port where nothing listens, also of a cluster', async () => {
    const refused = { code: 'ECONNREFUSED', cause: expect.stringContaining('start the server, or correct the URL') }
    const port = await getFreePort()
    expect(await getFault(`redis://127.0.0.1:${port}/0`)).toEqual(refused)
    expect(await getFault(`redis+cluster://127.0.0.1:${port}`)).toMatchObject({ code: 'closed' })
  })

  test('on a host that does not exist', async () => {
    expect(await getFault('redis://nowhere.invalid:6379/0')).toMatchObject({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    })
  })
})
