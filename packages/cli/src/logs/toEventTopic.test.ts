import { describe, expect, test } from 'vitest'
import { keccak256, toBytes, toEventSelector } from 'viem'
import { toEventTopic } from './toEventTopic.ts'

const hashOf = (signature: string): string => keccak256(toBytes(signature))

describe('toEventTopic', () => {
  test('is the well-known one of a transfer', () => {
    const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    expect(toEventTopic('Transfer(address,address,uint256)')).toBe(transfer)
  })

  test.each([
    'event Transfer(address indexed from, address indexed to, uint256 value);',
    ' Transfer ( address , address , uint256 ) ',
    'Transfer(address payable indexed from, address, uint value)',
  ])('reads %j as it reads the bare types', (event) => {
    expect(toEventTopic(event)).toBe(toEventTopic('Transfer(address,address,uint256)'))
  })

  test.each([
    ['Paused()', 'Paused()'],
    [
      'Many(uint, int[], bytes32[2][], string, bytes1, uint8)',
      'Many(uint256,int256[],bytes32[2][],string,bytes1,uint8)',
    ],
    ['Filled((address,uint256)[] orders, bytes data)', 'Filled((address,uint256)[],bytes)'],
    ['Deep(tuple(uint a, (bool, uint64)[3] b) indexed x)', 'Deep((uint256,(bool,uint64)[3]))'],
  ])('%s is hashed as %s', (event, signature) => {
    expect(toEventTopic(event)).toBe(hashOf(signature))
  })

  test('agrees with viem about names of parameters', () => {
    const event = 'event Swap(address indexed sender, int256 amount0, int256 amount1, uint160 price, int24 tick)'
    expect(toEventTopic(event)).toBe(toEventSelector(event))
  })

  test.each([
    ['Transfer', 'cannot be read'],
    ['', 'cannot be read'],
    ['Transfer(address', 'cannot be read'],
    ['Transfer(address,)', 'lacks a type'],
    ['Transfer(address from to)', 'cannot be read'],
    ['Transfer(adress)', 'names adress, which is no type of the ABI'],
    ['Transfer(uint257)', 'names uint257, which is no type of the ABI'],
    ['Transfer(uint12)', 'names uint12, which is no type of the ABI'],
    ['Transfer(bytes33)', 'names bytes33, which is no type of the ABI'],
    ['Transfer((address,uint256)', 'cannot be read'],
    ['Transfer(address)) (', 'cannot be read'],
    ['Transfer(address) anonymous', 'cannot be read'],
  ])('rejects %j with the fix', (event, message) => {
    expect(() => toEventTopic(event)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: `--event ${message}`,
        hint: expect.stringContaining("--event 'Transfer(address,address,uint256)'"),
      }),
    )
  })
})
