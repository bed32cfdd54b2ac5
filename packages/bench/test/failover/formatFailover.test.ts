import { expect, test } from 'vitest'
import { findLosses, formatFailover } from './formatFailover.ts'
import type { FailoverRow } from './formatFailover.ts'

const right = { single: 'right', batch: 'right' } as const
const rows: readonly FailoverRow[] = [
  { name: 'both', isHeldOut: false, keyrail: right, erpc: right },
  { name: 'ours', isHeldOut: false, keyrail: right, erpc: { single: 'wrong', batch: 'error' } },
  {
    name: 'theirs',
    isHeldOut: true,
    limitation: 'Costs too much.',
    keyrail: { single: 'right', batch: 'wrong' },
    erpc: right,
  },
  {
    name: 'nobody',
    isHeldOut: true,
    keyrail: { single: 'error', batch: 'error' },
    erpc: { single: 'wrong', batch: 'wrong' },
  },
]

test('a case is lost if eRPC is right and Keyrail is not, in one form', () => {
  expect(findLosses(rows).map(({ name }) => name)).toEqual(['theirs'])
})

test('the file counts the right responses, and lists what is not right with its reason', () => {
  const text = formatFailover(rows, 'By hand.')
  expect(text).toMatch(
    /\| in `failover.test.ts` and `verifiedResults.test.ts` +\| +2 of 2 +\| +2 of 2 +\| +1 of 2 +\| +1 of 2 +\|/,
  )
  expect(text).toMatch(/\| held out +\| +1 of 2 +\| +0 of 2 +\| +1 of 2 +\| +1 of 2 +\|/)
  expect(text).toContain('## Where eRPC is right and Keyrail is not\n\n- **theirs.** Costs too much.\n')
  expect(text).toContain('## Where neither is right\n\n- **nobody.** Not explained.\n')
  expect(text).toMatch(/\| held out: theirs +\| right +\| wrong +\| right +\| right +\|/)
})
