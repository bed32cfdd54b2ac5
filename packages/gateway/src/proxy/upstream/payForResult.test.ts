import { expect, test } from 'vitest'
import { rejections } from '../../errors/rejections.ts'
import { createBufferedBytes, dropAllBytes } from '../../lib/memoryBudget.ts'
import type { NodeResponse } from './readResponse.ts'
import { payForResult } from './payForResult.ts'

const result: NodeResponse = { member: 'result', value: Buffer.from('12345') }

test('a shared or cached result costs the bytes of its request, and those that are left bound the next one', () => {
  const budget = { left: 9 }
  expect(payForResult(result, { budget, maxResponseBytes: 9 })).toBe(result)
  expect(budget.left).toBe(4)
  expect(payForResult(result, { budget, maxResponseBytes: 9 })).toEqual(rejections.responseTooLarge(9))
  expect(budget.left).toBe(4)
})

test('without room in memory a result becomes a rejection, and a rejection stays what it is', () => {
  const buffered = createBufferedBytes('requests', { most: 0 })
  const budget = { left: 9, buffered }
  expect(payForResult(result, { budget, maxResponseBytes: 9 })).toEqual(rejections.upstreamBusy())
  const rejection = rejections.upstreamBad()
  expect(payForResult(rejection, { budget, maxResponseBytes: 9 })).toBe(rejection)
  expect(budget.left).toBe(9)
  dropAllBytes(buffered)
})
