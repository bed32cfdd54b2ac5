import { expect, test } from 'vitest'
import type { ChargedRow } from './accountDays.ts'
import { createLedger } from './ledger.ts'

const day = 20_778

/** A ledger whose statements are its rows. */
const open = (maxEntries?: number) => {
  const ledger = createLedger(
    { toSteps: (rows) => rows.map((row) => ({ text: JSON.stringify(row), values: [] })) },
    ...(maxEntries === undefined ? [] : [{ maxEntries }]),
  )
  const take = () => {
    const write = ledger.take()
    return write && { ...write, charged: write.steps.map(({ text }) => JSON.parse(text) as ChargedRow) }
  }
  return { ledger, take }
}

test('each row says what the run was charged altogether', () => {
  const { ledger, take } = open()
  expect(take()).toBeUndefined()
  ledger.add('user:1', day, 5)
  ledger.add('user:1', day, 3)
  ledger.add('user:2', day, 1)
  ledger.add('user:1', day + 1, 7)
  const first = take()
  expect(first?.rows).toBe(3)
  expect(first?.charged).toMatchObject([
    { account: 'user:1', day, charged: 8 },
    { account: 'user:2', day, charged: 1 },
    { account: 'user:1', day: day + 1, charged: 7 },
  ])
  expect(take()).toBeUndefined()
  ledger.add('user:1', day, -2)
  const second = take()
  expect(second?.charged).toMatchObject([{ account: 'user:1', day, charged: 6 }])
  const runs = new Set([...(first?.charged ?? []), ...(second?.charged ?? [])].map(({ run }) => run))
  expect(runs.size).toBe(1)
  expect([...runs][0]).toMatch(/^[\w-]{12}$/)
})

test('rows that could not be written are written again, with what was added since', () => {
  const { ledger, take } = open()
  ledger.add('user:1', day, 5)
  ledger.add('user:2', day, 1)
  const first = take()
  ledger.add('user:1', day, 2)
  first?.failed()
  expect(take()?.charged).toMatchObject([
    { account: 'user:1', charged: 7 },
    { account: 'user:2', charged: 1 },
  ])
  expect(take()).toBeUndefined()
})

test('takes 5,000 rows at once', () => {
  const { ledger, take } = open()
  for (let user = 0; user < 5_001; user += 1) ledger.add(`user:${user}`, day, 1)
  expect(take()?.charged).toHaveLength(5_000)
  expect(take()?.charged).toMatchObject([{ account: 'user:5000' }])
  expect(take()).toBeUndefined()
})

test('when it has as many rows as it may remember, a new run starts, and rows that are not written are kept', () => {
  const { ledger, take } = open(2)
  ledger.add('user:1', day, 5)
  ledger.add('user:2', day, 1)
  ledger.add('user:1', day, 1)
  ledger.add('user:3', day, 1)
  ledger.add('user:1', day, 10)
  const rows = take()?.charged ?? []
  expect(rows).toMatchObject([
    { account: 'user:1', charged: 6 },
    { account: 'user:2', charged: 1 },
    { account: 'user:3', charged: 1 },
    { account: 'user:1', charged: 10 },
  ])
  const [first, second, third, fourth] = rows.map(({ run }) => run)
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(fourth).toBe(third)
})

test('two ledgers have different runs', () => {
  const runs = [open(), open()].map(({ ledger, take }) => {
    ledger.add('user:1', day, 1)
    return take()?.charged[0]?.run
  })
  expect(runs[0]).not.toBe(runs[1])
})

test('a million accounts need few runs', () => {
  const { ledger, take } = open()
  for (let user = 0; user <= 200_000; user += 1) ledger.add(`user:${user}`, day, 1)
  const runs = new Map<string, number>()
  for (let write = take(); write !== undefined; write = take())
    for (const { run } of write.charged) runs.set(run, (runs.get(run) ?? 0) + 1)
  expect([...runs.values()]).toEqual([200_000, 1])
})
