import { expect, test } from 'vitest'
import { checkSyncs, formatSyncs } from './formatSyncs.ts'
import type { SyncCost } from './measuredProxy.ts'

const sync = (name: string, own: Partial<SyncCost> = {}): SyncCost => ({
  name,
  calls: 1_000,
  finalCalls: 998,
  queries: 2,
  finalQueries: 0,
  logs: 10,
  seconds: 1,
  wrong: 0,
  ...own,
})
const first = sync('first sync', { queries: 1_000, finalQueries: 998, logs: 500 })
const second = sync('second sync')
const subset = sync('a subset')
const more = sync('five more', { queries: 1_000, finalQueries: 998, logs: 50 })
const check = (keyrail: readonly SyncCost[], confirmations = 150): string[] =>
  checkSyncs({ name: 'Ponder', confirmations, keyrail }, 200_000)

test('syncs that cost what they should have no problems', () => {
  expect(check([first, second, subset, more])).toEqual([])
})

test.each([
  [
    'needs more queries than calls',
    [sync('first sync', { finalQueries: 999, queries: 1_000, logs: 500 }), second, subset, more],
  ],
  ['asks a node for final blocks', [first, sync('second sync', { finalQueries: 1 }), subset, more]],
  ['reads too many logs again', [first, second, subset, sync('five more', { logs: 51 })]],
  ['is wrong', [first, second, subset, sync('five more', { wrong: 1 })]],
])('a sync that %s is a problem', (_, keyrail) => {
  expect(check(keyrail)).toHaveLength(1)
})

test('too many confirmations are a problem', () => {
  expect(check([first, second, subset, more], 151)).toHaveLength(1)
})

test('the file has both proxies in a row, or the one that was measured', () => {
  const slow = sync('first sync', { finalQueries: 1_200, logs: 700 })
  const text = formatSyncs(
    [
      { name: 'Ponder', confirmations: 20, keyrail: [first, second], erpc: [slow] },
      { name: 'graphNode', confirmations: 30, keyrail: [second], erpc: [] },
    ],
    'By hand.',
  )
  expect(text).toMatch(
    /\| Ponder, first sync +\| +998 +\| +0\.0 % +\| +0\.0 % +\| +998 +\| +1200 +\| +500 +\| +700 +\|/,
  )
  expect(text).toMatch(/\| graphNode, second sync +\| +998 +\| +100\.0 % +\| +\| +0 +\| +\| +10 +\| +\|/)
  expect(text).toMatch(/\| Ponder +\| +20 +\| +2\.0 % +\| +99\.8 % +\|/)
})
