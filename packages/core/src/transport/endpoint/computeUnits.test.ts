import { expect, test } from 'vitest'
import { methodNames } from '../../schema/methodSlice.ts'
import { computeUnits } from './computeUnits.ts'

test('a method weighs more the more a node has to do for it', () => {
  const weights = ['net_version', 'eth_gasPrice', 'eth_getBalance', 'eth_call', 'eth_getLogs', 'trace_block'].map(
    computeUnits,
  )
  expect(weights).toEqual([1, 10, 20, 26, 75, 300])
})

test('every method weighs something, known or not', () => {
  for (const method of [...methodNames, 'foo_bar', '']) expect(computeUnits(method)).toBeGreaterThan(0)
  expect(computeUnits('foo_bar')).toBe(20)
  expect(computeUnits('eth_blockNumberOfSomeOtherKind')).toBe(20)
})
