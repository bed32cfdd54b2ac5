import { describe, expect, test } from 'vitest'
import { findChainMismatch } from './findChainMismatch.ts'

describe('findChainMismatch', () => {
  test('finds another chain, as a number or hex', () => {
    for (const reported of ['0x5', '5', 5])
      expect(findChainMismatch({ id: 1 }, reported)).toEqual({
        kind: 'wrongNetwork',
        text: 'the node is on chain 5, but the chainId option is 1',
      })
  })

  test('a local fork is named as such, with the option that allows it', () => {
    expect(findChainMismatch({ id: 1, source: 'the chain of the viem client (Ethereum)' }, 31337)?.text).toBe(
      'the node is on chain 31337, but the chain of the viem client (Ethereum) is 1. If it is a local fork of chain 1, set chainId: 31337',
    )
    expect(findChainMismatch({ id: 1 }, '0x539')?.text).toContain('set chainId: 1337')
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
    expect(findChainMismatch({ id: chainId }, reported)).toBeUndefined()
  })
})
