import { expect, test } from 'vitest'
import { getUtcDay } from '../../lib/utcDay.ts'
import type { AccountDays } from './accountDays.ts'
import { createSeeds } from './createSeeds.ts'

const at = Date.UTC(2026, 10, 21, 12)
const { day } = getUtcDay(at)

/** A ledger in which quota `n` was charged `n` today. */
const open = () => {
  const queries: { quotas: readonly string[]; day: number }[] = []
  const clock = { now: at, isDown: false }
  const read: AccountDays['read'] = (quotas, of) => {
    queries.push({ quotas, day: of.day })
    if (clock.isDown) return Promise.reject(new Error('the ledger is down'))
    const sums = quotas.filter((quota) => quota !== 'new')
    return Promise.resolve(new Map(sums.map((quota) => [quota, { day: Number(quota), month: Number(quota) + 10 }])))
  }
  return { queries, clock, readSeed: createSeeds({ read }, () => clock.now) }
}

test('a seed has what was charged, and the time before it was read', async () => {
  const { readSeed, clock, queries } = open()
  const seed = readSeed('5')
  expect(await seed).toEqual({ day, dayUsed: 5, monthUsed: 15, at })
  clock.now += 86_400_000
  expect(await readSeed('5')).toEqual({ day: day + 1, dayUsed: 5, monthUsed: 15, at: at + 86_400_000 })
  expect(queries).toEqual([
    { quotas: ['5'], day },
    { quotas: ['5'], day: day + 1 },
  ])
})

test('a quota that the ledger does not have starts at 0', async () => {
  expect(await open().readSeed('new')).toEqual({ day, dayUsed: 0, monthUsed: 0, at })
})

test('quotas of one turn are read in one query, each once, and up to 500', async () => {
  const { readSeed, queries } = open()
  const quotas = [...Array.from({ length: 501 }, (_, index) => String(index)), '500']
  const seeds = await Promise.all(quotas.map(readSeed))
  expect(queries.map((query) => query.quotas.length)).toEqual([500, 1])
  expect(seeds.map(({ dayUsed }) => dayUsed)).toEqual(quotas.map(Number))
})

test('a quota that is requested while a query runs is read by the next one', async () => {
  const { readSeed, queries, clock } = open()
  const first = readSeed('1')
  await new Promise((resolve) => setImmediate(resolve))
  clock.now += 5
  expect((await readSeed('1')).at).toBe(at + 5)
  expect((await first).at).toBe(at)
  expect(queries).toHaveLength(2)
})

test('a query that fails concerns only its quotas', async () => {
  const { readSeed, clock } = open()
  clock.isDown = true
  const failed = await Promise.allSettled([readSeed('1'), readSeed('2')])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  clock.isDown = false
  expect(await readSeed('1')).toMatchObject({ dayUsed: 1 })
})
