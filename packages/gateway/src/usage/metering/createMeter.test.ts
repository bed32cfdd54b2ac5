import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Db } from '../../storage/tables.ts'
import type { Step } from '../../storage/database.ts'
import { createMeter } from './createMeter.ts'
import type { Meter, MeterEvent } from './meter.ts'
import { minuteMs } from '../../lib/time.ts'

const start = Date.UTC(2026, 10, 21, 12)

/** The result of a blocked write: written, not written, or written although the meter sees a failure. */
type WriteResult = 'written' | 'failed' | 'writtenButFailed'

/** A storage whose writes wait until the test releases them. Like the real ones, it keeps the row with the larger total. */
const createBlockingStorage = () => {
  const totals = new Map<string, number>()
  const blocked: ((result: WriteResult) => void)[] = []
  const store = ({ text, values }: Step): void => {
    if (!text.startsWith('insert into usage_minutes')) return
    for (let index = 0; index < values.length; index += 7) {
      const [at, keyId, run, total] = values.slice(index, index + 4)
      const row = `${at} ${keyId} ${run}`
      totals.set(row, Math.max(totals.get(row) ?? 0, Number(total)))
    }
  }
  return {
    storage: {
      db: { kind: 'sqlite' } as Db,
      write: (steps: readonly Step[]): Promise<never[]> =>
        new Promise((resolve, reject) => {
          blocked.push((result) => {
            if (result !== 'failed') for (const step of steps) store(step)
            if (result === 'written') resolve([])
            else reject(new Error('the database is unreachable'))
          })
        }),
    },
    /** Completes the oldest blocked write. */
    release: (result: WriteResult): void => blocked.shift()?.(result),
    waiting: (): number => blocked.length,
    /** The stored total of all keys, or of one such as `key_1`. */
    total: (keyId = ''): number =>
      [...totals].reduce((sum, [row, total]) => (row.includes(` ${keyId}`) ? sum + total : sum), 0),
  }
}

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const setUp = (options: { maxWaiting?: number } = {}) => {
  const clock = { now: start }
  const events: MeterEvent[] = []
  const database = createBlockingStorage()
  const meter = createMeter({
    storage: database.storage,
    now: () => clock.now,
    flushMs: 2_147_483_647,
    rollUpMs: 0,
    onEvent: (event) => void events.push(event),
    ...options,
  })
  const count = (key = 'key_1', calls = 1): void =>
    meter.count({ id: key }, 'mainnet', 'eth_call', 'succeeded', 1, calls)
  /** Releases every write until the work is done. */
  const finish = async (work: Promise<void>): Promise<void> => {
    let done = false
    const finished = work.finally(() => (done = true))
    while (!done) {
      database.release('written')
      await nextRound()
    }
    await finished
  }
  const lost = (): number => events.reduce((sum, event) => sum + (event.event === 'meterLost' ? event.calls : 0), 0)
  return { clock, database, events, meter, count, finish, lost }
}

/** Starts a flush and ignores its failure: the next one writes the same counts again. */
const startFlush = (meter: Meter): void => void meter.flush().catch(() => {})

describe('when the minute changes', () => {
  test('counts made during a write of the old minute are not lost', async () => {
    const { clock, database, meter, count, finish } = setUp()
    count()
    startFlush(meter)
    await nextRound()
    expect(database.waiting()).toBe(1)
    count()
    clock.now += minuteMs
    count()
    database.release('written')
    await finish(meter.flush())
    expect(database.total()).toBe(3)
  })

  test('no count is lost if that write fails, before or after its rows are stored', async () => {
    for (const result of ['failed', 'writtenButFailed'] as const) {
      const { clock, database, meter, count, finish } = setUp()
      count()
      startFlush(meter)
      await nextRound()
      count()
      clock.now += minuteMs
      count()
      database.release(result)
      await finish(meter.flush())
      expect(database.total()).toBe(3)
    }
  })

  test('no count is lost if the meter is closed during that write', async () => {
    const { clock, database, meter, count, finish, lost } = setUp()
    count()
    startFlush(meter)
    await nextRound()
    count()
    clock.now += minuteMs
    count()
    await finish(meter.close())
    expect([database.total(), lost()]).toEqual([3, 0])
  })

  test('no count is lost if the last write fails once', async () => {
    for (const result of ['failed', 'writtenButFailed'] as const) {
      const { clock, database, meter, count, finish, lost } = setUp()
      count()
      clock.now += minuteMs
      count()
      const closed = meter.close()
      await nextRound()
      database.release(result)
      await finish(closed)
      expect([database.total(), lost()]).toEqual([2, 0])
    }
  })

  test('no count is lost if a write takes several minutes, not even of keys that first call during it', async () => {
    const { clock, database, meter, count, finish } = setUp()
    let counted = 0
    startFlush(meter)
    for (let minute = 0; minute < 4; minute += 1) {
      for (const key of ['key_1', `key_in_${minute}`]) count(key, 2)
      counted += 4
      startFlush(meter)
      await nextRound()
      for (const key of ['key_1', `key_late_in_${minute}`]) count(key)
      counted += 2
      clock.now += minuteMs
    }
    await finish(meter.flush())
    expect(database.total()).toBe(counted)
  })

  test('no count is lost with more keys than one transaction writes', async () => {
    const { clock, database, meter, count, finish } = setUp()
    for (let key = 0; key < 600; key += 1) count(`key_${key}`)
    startFlush(meter)
    await nextRound()
    database.release('written')
    await nextRound()
    for (let key = 0; key < 600; key += 1) count(`key_${key}`)
    clock.now += minuteMs
    count()
    await finish(meter.flush())
    expect(database.total()).toBe(1_201)
  })
})

test('after any sequence of counts, clock steps, writes and failed writes the database has every count exactly once', async () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constant('count' as const),
        key: fc.nat(2),
        calls: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('flush' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constant('release' as const),
        result: fc.constantFrom<WriteResult>('written', 'written', 'failed', 'writtenButFailed'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constant('step' as const), ms: fc.constantFrom(minuteMs, minuteMs, 1, -minuteMs) }),
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.boolean(), async (steps, closed) => {
      const { clock, database, meter, count, finish, lost } = setUp()
      const counted = new Map<string, number>()
      for (const one of steps) {
        if (one.op === 'count') {
          const key = `key_${one.key}`
          count(key, one.calls)
          counted.set(key, (counted.get(key) ?? 0) + one.calls)
        } else if (one.op === 'flush') startFlush(meter)
        else if (one.op === 'release') database.release(one.result)
        else clock.now += one.ms
        await nextRound()
      }
      await finish(closed ? meter.close() : meter.flush())
      for (const [key, calls] of counted) expect(database.total(key)).toBe(calls)
      expect(lost()).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('a minute dropped during its write reports only the lost counts', async () => {
  const { clock, database, meter, count, finish, lost } = setUp({ maxWaiting: 1 })
  count('key_1', 5)
  startFlush(meter)
  await nextRound()
  for (const key of ['key_2', 'key_3', 'key_4']) {
    clock.now += minuteMs
    count(key)
  }
  await finish(meter.flush())
  expect(database.total() + lost()).toBe(8)
})

test('the status and the log say how far the meter is behind, and what failed', async () => {
  const { clock, database, events, meter, count, finish } = setUp({ maxWaiting: 1 })
  expect(meter.status()).toEqual({
    lagMs: 0,
    backlogRows: 0,
    rollUpLagMs: 0,
    lostCalls: 0,
    skippedRows: 0,
    failures: { write: 0, rollUp: 0 },
  })
  count('key_1', 3)
  for (const failures of [1, 2]) {
    const flushed = meter.flush()
    await nextRound()
    database.release('failed')
    await expect(flushed).rejects.toThrow('unreachable')
    expect(meter.status()).toMatchObject({ lagMs: 0, backlogRows: 1, failures: { write: failures } })
  }
  clock.now += 2 * minuteMs
  count('key_2')
  count('key_3')
  expect(meter.status()).toMatchObject({ lagMs: 2 * minuteMs, backlogRows: 3, lostCalls: 0 })
  clock.now += minuteMs
  count()
  expect(meter.status()).toMatchObject({ backlogRows: 1, lostCalls: 5 })
  await finish(meter.flush())
  expect(meter.status()).toMatchObject({ lagMs: 0, backlogRows: 0, lostCalls: 5, failures: { write: 2 } })
  expect(events).toEqual([
    { event: 'meterFailed', work: 'write', state: 'started', code: 'Error' },
    { event: 'meterLost', calls: 3 },
    { event: 'meterLost', calls: 2 },
    { event: 'meterFailed', work: 'write', state: 'ended', failures: 2 },
  ])
})
