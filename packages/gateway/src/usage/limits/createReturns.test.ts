import { expect, test } from 'vitest'
import { createReturns } from './createReturns.ts'
import { createCounter, toQuotaGrant } from './quotaCounter.ts'

const createGrant = (charged: number) =>
  toQuotaGrant(
    createCounter(20_778, charged, charged),
    { id: 'user:usr_1', perDay: 100, perMonth: null },
    { calls: charged, granted: charged, charged },
  )

test('no unit of a grant is returned twice', () => {
  const returns = createReturns()
  const grant = createGrant(5)
  expect(returns.take(grant, 2)).toBe(2)
  expect(returns.take(grant, 1)).toBe(1)
  expect(returns.take(grant, 9)).toBe(2)
  expect(returns.take(grant, 1)).toBe(0)
})

test('grants do not share their returns', () => {
  const returns = createReturns()
  expect(returns.take(createGrant(5), 5)).toBe(5)
  expect(returns.take(createGrant(5), 5)).toBe(5)
})

test('a negative number returns nothing, and does not raise what may be returned', () => {
  const returns = createReturns()
  const grant = createGrant(5)
  expect(returns.take(grant, -3)).toBe(0)
  expect(returns.take(grant, 9)).toBe(5)
})
