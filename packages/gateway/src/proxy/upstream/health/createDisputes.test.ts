import { expect, test } from 'vitest'
import { createDisputes } from './createDisputes.ts'

const create = () => {
  let time = 0
  let demotions = 0
  const disputes = createDisputes({ now: () => time, onDemote: () => (demotions += 1) })
  return {
    addAt: (at: number) => {
      time = at
      disputes.add()
    },
    isDemotedAt: (at: number) => {
      time = at
      return disputes.isDemoted()
    },
    getDemotions: () => demotions,
    count: disputes.count,
  }
}

test('an upstream that is outvoted three times within five minutes is demoted for ten', () => {
  const { addAt, isDemotedAt, getDemotions, count } = create()
  for (const at of [0, 100_000]) addAt(at)
  expect(isDemotedAt(100_000)).toBe(false)
  addAt(299_999)
  expect([isDemotedAt(299_999), isDemotedAt(899_998), isDemotedAt(899_999)]).toEqual([true, true, false])
  expect([getDemotions(), count()]).toEqual([1, 3])
})

test('one that is outvoted less often is not demoted', () => {
  const { addAt, isDemotedAt } = create()
  for (const at of [0, 150_000, 300_000, 450_000, 600_000]) {
    addAt(at)
    expect(isDemotedAt(at)).toBe(false)
  }
})

test('one that is outvoted three more times while it is demoted stays so for longer', () => {
  const { addAt, isDemotedAt, getDemotions } = create()
  for (const at of [0, 1, 2, 100_000, 100_001, 100_002]) addAt(at)
  expect([isDemotedAt(700_001), isDemotedAt(700_002)]).toEqual([true, false])
  expect(getDemotions()).toBe(1)
})
