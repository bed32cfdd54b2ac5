import { describe, expect, test } from 'vitest'
import { findChainMismatch } from './findChainMismatch.ts'

describe('findChainMismatch', () => {
  test('finds another chain, as a number or hex', () => {
    for (const reported of ['0x5', '5', 5])
      expect(findChainMismatch(1, reported)).toEqual({
        kind: 'wrongNetwork',
        text: 'the node is on chain 5, but the chainId option is 1',
      })
  })

  test.each([
    ['no chain was named', undefined, '0x5'],
    ['it is the same chain', 1, '0x1'],
    ['there is no chain id', 1, undefined],
    ['the response has no such header', 1, null],
    ['it is empty', 1, ''],
    ['it is not a number', 1, 'mainnet'],
    ['it is an object', 1, {}],
  ])('finds nothing if %s', (_, chainId, reported) => {
    expect(findChainMismatch(chainId, reported)).toBeUndefined()
  })
})
