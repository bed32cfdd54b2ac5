import { describe, expect, test } from 'vitest'
import { findChainMismatch } from './findChainMismatch.ts'

describe('findChainMismatch', () => {
  test('finds another chain, as a number or hex', () => {
    for (const said of ['0x5', '5', 5])
      expect(findChainMismatch(1, said)).toEqual({
        kind: 'wrongNetwork',
        text: 'the node is on chain 5, but the chainId option is 1',
      })
  })

  test.each([
    ['no chain was named', undefined, '0x5'],
    ['it is the same one', 1, '0x1'],
    ['the answer does not say', 1, undefined],
    ['the answer has no such header', 1, null],
    ['the answer says nothing', 1, ''],
    ['what it says is no number', 1, 'mainnet'],
    ['what it says is an object', 1, {}],
  ])('has nothing to tell where %s', (_, chainId, said) => {
    expect(findChainMismatch(chainId, said)).toBeUndefined()
  })
})
