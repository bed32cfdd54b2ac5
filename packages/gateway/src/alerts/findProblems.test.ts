import { expect, test } from 'vitest'
import { findProblems } from './findProblems.ts'
import type { ServiceFacts } from './findProblems.ts'

const now = Date.UTC(2026, 10, 21, 12)
const dayMs = 86_400_000
const fine: ServiceFacts = {
  lostStores: [],
  networksWithoutNode: [],
  disks: [{ of: 'database', freeBytes: 10, totalBytes: 100 }],
  certificateEndsAt: now + 14 * dayMs,
  calls: { total: 100, failed: 5 },
}
const find = (facts: Partial<ServiceFacts>) =>
  findProblems({ ...fine, ...facts }, now).map(({ kind, subject, share, expiresAt }) => [
    kind,
    subject,
    share ?? expiresAt,
  ])

test('finds nothing while all is fine, at the last values that are', () => {
  expect(find({})).toEqual([])
})

test('finds each problem, the worst first', () => {
  expect(
    find({
      lostStores: ['redis'],
      networksWithoutNode: ['mainnet', 'base'],
      disks: [
        { of: 'database', freeBytes: 50, totalBytes: 100 },
        { of: 'chainStore', freeBytes: 9, totalBytes: 100 },
      ],
      certificateEndsAt: now + 14 * dayMs - 1,
      calls: { total: 100, failed: 6 },
    }),
  ).toEqual([
    ['store', 'redis', null],
    ['network', 'mainnet', null],
    ['network', 'base', null],
    ['disk', 'chainStore', 0.09],
    ['certificate', 'service', '2026-12-05T11:59:59.999Z'],
    ['errors', 'service', 0.06],
  ])
})

test('a few failed calls are no problem', () => {
  expect(find({ calls: { total: 19, failed: 19 } })).toEqual([])
  expect(find({ calls: { total: 20, failed: 2 } })).toHaveLength(1)
  expect(find({ calls: { total: 0, failed: 0 } })).toEqual([])
})
