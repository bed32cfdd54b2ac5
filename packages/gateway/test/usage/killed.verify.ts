import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { dayMs } from '../../src/usage/metering/usageRows.ts'
import { createQuotaRows } from '../../src/usage/quota/quotaRows.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import type { TestDatabase } from '../storage/databases.ts'
import type { UseOrder } from './useUntilKilled.ts'

const now = Date.UTC(2026, 10, 21, 12)
const blockItems = 25

/** What a process did until its end. */
interface Use {
  /** When it told of each item. */
  readonly told: readonly number[]
  readonly killedAt: number | undefined
}

/** Runs a process. @param killAfter - Ends it once it has told of something for so long, in milliseconds. */
const use = async (order: UseOrder, killAfter?: number): Promise<Use> => {
  const child = spawn(
    process.execPath,
    ['--conditions=@keyrail/source', join(import.meta.dirname, 'useUntilKilled.ts')],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, KEYRAIL_TEST_USE: JSON.stringify(order) } },
  )
  let text = ''
  let killedAt: number | undefined
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (killAfter === undefined) return
    timer ??= setTimeout(() => {
      killedAt = Date.now()
      child.kill('SIGKILL')
    }, killAfter)
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  if (signal !== 'SIGKILL') expect([code, signal]).toEqual([0, null])
  // The last line may have been cut.
  return { told: text.split('\n').slice(0, -1).map(Number), killedAt: signal === 'SIGKILL' ? killedAt : undefined }
}

// Once for all blocks.
afterAll(async () => {
  await Promise.all(databases.map((database) => database.stop()))
})

/** A database for the tests of one block, with what they ask of it. */
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
    usedBy: async (userId: string): Promise<number> =>
      (await createQuotaRows(opened.storage).find(`user:${userId}`))?.dayUsed ?? 0,
    countedFor: async (userId: string): Promise<number> => {
      const query = { subject: { userId }, from: now - dayMs, to: now + dayMs, step: 'hour' } as const
      return (await createReadMetrics({ storage: opened.storage })(query)).total
    },
  }
}

describe.each(databases)('processes that are killed, on $name', (database) => {
  const opened = openFor(database)
  const { usedBy, countedFor } = opened

  test('again and again until a day is used up: never more than the limit, a block less a kill, and metering a second short', async () => {
    const order = { storage: opened.storage, userId: 'usr_killed', perDay: 2_500, callers: 8, pauseMs: 20, now }
    let told = 0
    let kills = 0
    let least = 0
    for (;;) {
      const before = await countedFor(order.userId)
      const { told: times, killedAt } = await use(order, 1_300 + 100 * kills)
      told += times.length
      const counted = await countedFor(order.userId)
      if (killedAt === undefined) {
        expect(counted - before).toBe(times.length)
        break
      }
      kills += 1
      // Between counting and telling there is room for one.
      expect(counted - before).toBeLessThanOrEqual(times.length + 1)
      expect(counted - before).toBeGreaterThanOrEqual(times.filter((at) => at < killedAt - 1_000).length)
      least += times.filter((at) => at < killedAt - 1_000).length
    }
    expect(kills).toBeGreaterThanOrEqual(3)
    expect(least).toBeGreaterThan(0)
    expect(told).toBeLessThanOrEqual(2_500)
    expect(told).toBeGreaterThanOrEqual(2_500 - kills * (blockItems + 1))
    expect(await usedBy(order.userId)).toBe(2_500)
  })
})

describe.each(databases.filter(({ name }) => name === 'postgres'))('four processes on $name', (database) => {
  const opened = openFor(database)
  const { usedBy, countedFor } = opened

  test('get exactly the limit, where none is killed', async () => {
    const order = { storage: opened.storage, userId: 'usr_four', perDay: 4_000, callers: 32, pauseMs: 1, now }
    const uses = await Promise.all([1, 2, 3, 4].map(() => use(order)))
    expect(uses.reduce((sum, { told }) => sum + told.length, 0)).toBe(4_000)
    expect(await usedBy(order.userId)).toBe(4_000)
    expect(await countedFor(order.userId)).toBe(4_000)
  })

  test('get at most the limit, and a block less, where one is killed', async () => {
    const order = { storage: opened.storage, userId: 'usr_three', perDay: 6_000, callers: 32, pauseMs: 5, now }
    const uses = await Promise.all([150, undefined, undefined, undefined].map((killAfter) => use(order, killAfter)))
    expect(uses[0]?.killedAt).toBeDefined()
    const told = uses.reduce((sum, use) => sum + use.told.length, 0)
    expect(told).toBeLessThanOrEqual(6_000)
    // What was needed by callers that waited, and what was reserved beyond.
    expect(told).toBeGreaterThanOrEqual(6_000 - 32 - blockItems)
    expect(await usedBy(order.userId)).toBe(6_000)
  })
})
