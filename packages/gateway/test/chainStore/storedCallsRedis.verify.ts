import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import type { openTestStore } from './openTestFile.ts'
import { openTestRedisStore, startCacheRedis } from './openTestRedis.ts'
import type { CacheRedis } from './openTestRedis.ts'

const opened: { redis: CacheRedis | undefined } = vi.hoisted(() => ({ redis: undefined }))
vi.mock('./openTestFile.ts', async (original) => ({
  ...(await original<object>()),
  openTestStore: ((_, options) => openTestRedisStore(opened.redis?.url ?? '', options)) satisfies typeof openTestStore,
}))

// The tests of calls with a store in a file, unchanged: what is one file there is one Redis here.
describe('with Redis', needs('redis-server'), async () => {
  beforeAll(async () => {
    opened.redis = await startCacheRedis()
  })
  beforeEach(() => void opened.redis?.admin.flushall())
  afterAll(() => opened.redis?.stop())
  await import('./storedCalls.verify.ts')
  test('all of them have used Redis', async () => {
    expect(await opened.redis?.admin.info('commandstats')).toMatch(/cmdstat_zadd:calls=[1-9]\d/)
  })
})
