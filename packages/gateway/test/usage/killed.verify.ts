import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { dayMs } from '../../src/lib/time.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { openRedisInstance } from './openRedisInstance.ts'
import { startRedis } from './startRedis.ts'
import type { UsageTask } from './useQuotaUntilKilled.ts'

const now = Date.UTC(2026, 10, 21, 12)
/** What is reserved ahead. */
const lead = 25

/** What a process did until it exited. */
interface Run {
  readonly granted: number
  /** How many of them were in the storage when the last write ended of which the process reported the end. */
  readonly written: number
  readonly isKilled: boolean
}

/** Runs a process. @param killAfter - Kills it this long after its first granted call, in milliseconds. */
const useQuota = async (task: UsageTask, killAfter?: number): Promise<Run> => {
  const child = spawn(
    process.execPath,
    ['--conditions=@keyrail/source', join(import.meta.dirname, 'useQuotaUntilKilled.ts')],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, KEYRAIL_TEST_USE: JSON.stringify(task) } },
  )
  let text = ''
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (killAfter === undefined) return
    timer ??= setTimeout(() => child.kill('SIGKILL'), killAfter)
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  if (signal !== 'SIGKILL') expect([code, signal]).toEqual([0, null])
  // The last line may be incomplete.
  const lines = text.split('\n').slice(0, -1)
  const calls = lines.filter((line) => line === 'call')
  const last = lines.findLast((line) => line !== 'call') ?? 'written 0'
  return { granted: calls.length, written: Number(last.slice('written '.length)), isKilled: signal === 'SIGKILL' }
}

// Once for both describe blocks.
afterAll(async () => {
  await Promise.all(databases.map((database) => database.stop()))
})

/** Opens a database for the tests of one describe block. */
const openFor = (database: TestDatabase) => {
  const opened = {} as { options: StorageOptions; storage: Storage }
  beforeAll(async () => {
    opened.options = await database.create()
    opened.storage = await openStorage(opened.options)
  })
  afterAll(async () => {
    await opened.storage.close()
  })
  return {
    get storage() {
      return opened.options
    },
    getUsed: async (userId: string): Promise<number> =>
      (await createAccountDays(opened.storage).read([`user:${userId}`], getUtcDay(now))).get(`user:${userId}`)?.day ??
      0,
    getCounted: async (userId: string): Promise<number> => {
      const query = { subject: { userId }, from: now - dayMs, to: now + dayMs, step: 'hour' } as const
      return (await createReadMetrics({ storage: opened.storage })(query)).total
    },
  }
}

describe.each(databases)('killed processes on $name', (database) => {
  const opened = openFor(database)
  const { getUsed, getCounted } = opened

  test('are never granted more than the limit and lose at most what was reserved ahead and what was metered since the last write per kill', async () => {
    const task = { storage: opened.storage, userId: 'usr_killed', perDay: 2_500, callers: 8, pauseMs: 20, now }
    let granted = 0
    let kills = 0
    let surelyCounted = 0
    for (;;) {
      const before = await getCounted(task.userId)
      const run = await useQuota(task, 1_300 + 100 * kills)
      granted += run.granted
      const counted = await getCounted(task.userId)
      if (!run.isKilled) {
        expect(counted - before).toBe(run.granted)
        break
      }
      kills += 1
      // A kill between counting and printing can hit one call.
      expect(counted - before).toBeLessThanOrEqual(run.granted + 1)
      expect(counted - before).toBeGreaterThanOrEqual(run.written)
      surelyCounted += run.written
    }
    expect(kills).toBeGreaterThanOrEqual(3)
    expect(surelyCounted).toBeGreaterThan(0)
    expect(granted).toBeLessThanOrEqual(2_500)
    expect(granted).toBeGreaterThanOrEqual(2_500 - kills * (lead + 1))
    expect(await getUsed(task.userId)).toBe(2_500)
  })
})

describe.each(databases.filter(({ name }) => name === 'postgres'))('four processes on $name', (database) => {
  const opened = openFor(database)
  const { getUsed, getCounted } = opened

  test('are granted exactly the limit if none is killed', async () => {
    const task = { storage: opened.storage, userId: 'usr_four', perDay: 4_000, callers: 32, pauseMs: 1, now }
    const runs = await Promise.all([1, 2, 3, 4].map(() => useQuota(task)))
    expect(runs.reduce((sum, each) => sum + each.granted, 0)).toBe(4_000)
    expect(await getUsed(task.userId)).toBe(4_000)
    expect(await getCounted(task.userId)).toBe(4_000)
  })

  test('are granted at most the limit, and at most a block less, if one is killed', async () => {
    const task = { storage: opened.storage, userId: 'usr_three', perDay: 6_000, callers: 32, pauseMs: 5, now }
    const runs = await Promise.all([150, undefined, undefined, undefined].map((killAfter) => useQuota(task, killAfter)))
    expect(runs[0]?.isKilled).toBe(true)
    const granted = runs.reduce((sum, each) => sum + each.granted, 0)
    expect(granted).toBeLessThanOrEqual(6_000)
    // As docs/service/guarantees.md says: a kill loses what was reserved for waiting callers, and ahead, up to a hundredth of the limit.
    expect(granted).toBeGreaterThanOrEqual(6_000 - 32 - 6_000 / 100)
    expect(await getUsed(task.userId)).toBe(6_000)
  })
})

describe.each(databases)('three processes on Redis and $name', needs('redis-server'), (database) => {
  const opened = openFor(database)

  test('are granted at most the limit, and less by no more than was in flight, if one is killed', async () => {
    const redis = await startRedis()
    const task = { userId: 'usr_redis', perDay: 6_000, callers: 32, pauseMs: 40, now }
    const runs = await Promise.all(
      [150, undefined, undefined].map((killAfter) =>
        useQuota({ ...task, storage: opened.storage, redisUrl: redis.url }, killAfter),
      ),
    )
    expect(runs[0]?.isKilled).toBe(true)
    const granted = runs.reduce((sum, each) => sum + each.granted, 0)
    expect(granted).toBeLessThanOrEqual(6_000)
    expect(granted).toBeGreaterThanOrEqual(6_000 - 32)
    const storage = await openStorage(opened.storage)
    const other = await openRedisInstance(redis.url, storage)
    const quota = { id: `user:${task.userId}`, perDay: task.perDay, perMonth: null }
    expect((await other.limits.usage(quota)).day.used).toBe(6_000)
    await other.close()
    await storage.close()
    await redis.stop()
  })
})
