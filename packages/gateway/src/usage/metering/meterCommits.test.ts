import { expect, test } from 'vitest'
import type { Db } from '../../storage/tables.ts'
import { createMeter } from './createMeter.ts'
import type { MeterOptions } from './createMeter.ts'
import { minuteMs } from '../../lib/time.ts'

const start = Date.UTC(2026, 10, 21, 12)

/** A storage that records the rows of each transaction, and writes at once. */
const setUpCommits = (alongside?: MeterOptions['alongside']) => {
  const clock = { now: start }
  const commits: { rows: number; extra: number }[] = []
  const failures: unknown[] = []
  const meter = createMeter({
    storage: {
      db: { kind: 'sqlite' } as Db,
      write: (steps) => {
        const failure = failures.shift()
        if (failure !== undefined) return Promise.reject(failure as Error)
        const rows = steps
          .filter(({ text }) => text.startsWith('insert into usage_minutes'))
          .reduce((sum, { values }) => sum + values.length / 7, 0)
        commits.push({ rows, extra: steps.filter(({ text }) => text === 'ledger').length })
        return Promise.resolve([])
      },
    },
    now: () => clock.now,
    flushMs: 2_147_483_647,
    rollUpMs: 0,
    alongside,
  })
  const count = (keys: number): void => {
    for (let key = 0; key < keys; key += 1) meter.count({ id: `key_${key}` }, 'mainnet', 'eth_call', 'succeeded', 1)
  }
  return { clock, commits, count, failures, meter }
}

/** A ledger that has batches of this many rows. */
const createLedger = (...sizes: number[]) => {
  const results: string[] = []
  return {
    results,
    take: () => {
      const rows = sizes.shift()
      if (rows === undefined) return undefined
      results.push(`taken ${rows}`)
      return {
        steps: [{ text: 'ledger', values: [] }],
        rows,
        failed: () => void results.push(`failed ${rows}`),
      }
    },
  }
}

test('a flush commits once per 250 rows, also when the minute has changed', async () => {
  const { clock, commits, count, meter } = setUpCommits()
  count(200)
  clock.now += minuteMs
  count(50)
  await meter.flush()
  clock.now += minuteMs
  count(501)
  await meter.flush()
  await meter.flush()
  expect(commits.map(({ rows }) => rows)).toEqual([250, 250, 250, 1])
})

test('further statements are in the transaction of the counts, once a flush, or in one of their own', async () => {
  const ledger = createLedger(100, 300, 10)
  const { commits, count, meter } = setUpCommits(ledger)
  count(400)
  await meter.flush()
  expect(commits).toEqual([
    { rows: 150, extra: 1 },
    { rows: 250, extra: 0 },
  ])
  count(3)
  await meter.flush()
  await meter.flush()
  await meter.flush()
  expect(commits.slice(2)).toEqual([
    { rows: 0, extra: 1 },
    { rows: 3, extra: 0 },
    { rows: 0, extra: 1 },
  ])
  expect(ledger.results).toEqual(['taken 100', 'taken 300', 'taken 10'])
})

test('further statements know that their transaction failed, and the counts are written later', async () => {
  const ledger = createLedger(5, 6)
  const { commits, count, failures, meter } = setUpCommits(ledger)
  failures.push(new Error('the connection broke'))
  count(2)
  await expect(meter.flush()).rejects.toThrow('the connection broke')
  expect(ledger.results).toEqual(['taken 5', 'failed 5'])
  await meter.flush()
  expect(ledger.results).toEqual(['taken 5', 'failed 5', 'taken 6'])
  expect(commits).toEqual([{ rows: 2, extra: 1 }])
})

test('close writes further statements until there are none', async () => {
  const ledger = createLedger(1, 2, 3)
  const { commits, count, meter } = setUpCommits(ledger)
  count(1)
  await meter.close()
  expect(commits).toEqual([
    { rows: 1, extra: 1 },
    { rows: 0, extra: 1 },
    { rows: 0, extra: 1 },
  ])
  expect(ledger.results).toEqual(['taken 1', 'taken 2', 'taken 3'])
})
