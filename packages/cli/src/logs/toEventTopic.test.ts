import { describe, expect, test } from 'vitest'
import { keccak256, toBytes, toEventSelector } from 'viem'
import { toEventTopic } from './toEventTopic.ts'

const hash = (signature: string): string => keccak256(toBytes(signature))

describe('toEventTopic', () => {
  test('returns the well-known topic of a transfer', () => {
    const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    expect(toEventTopic('Transfer(address,address,uint256)')).toBe(transfer)
  })

  test.each([
    'event Transfer(address indexed from, address indexed to, uint256 value);',
    ' Transfer ( address , address , uint256 ) ',
    'Transfer(address payable indexed from, address, uint value)',
  ])('parses %j like the bare types', (event) => {
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
  ])('hashes %s as %s', (event, signature) => {
    expect(toEventTopic(event)).toBe(hash(signature))
  })

  test('agrees with viem on parameter names', () => {
    const event = 'event Swap(address indexed sender, int256 amount0, int256 amount1, uint160 price, int24 tick)'
    expect(toEventTopic(event)).toBe(toEventSelector(event))
  })

  test.each([
    ['Transfer', 'cannot be parsed'],
    ['', 'cannot be parsed'],
    ['Transfer(address', 'cannot be parsed'],
    ['Transfer(address,)', 'has a parameter without a type'],
    ['Transfer(address from to)', 'cannot be parsed'],
    ['Transfer(adress)', 'has an unknown type: adress'],
    ['Transfer(uint257)', 'has an unknown type: uint257'],
    ['Transfer(uint12)', 'has an unknown type: uint12'],
    ['Transfer(bytes33)', 'has an unknown type: bytes33'],
    ['Transfer((address,uint256)', 'cannot be parsed'],
    ['Transfer(address)) (', 'cannot be parsed'],
    ['Transfer(address) anonymous', 'cannot be parsed'],
  ])('rejects %j with a hint', (event, message) => {
    expect(() => toEventTopic(event)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: `--event ${message}`,
        hint: expect.stringContaining("--event 'Transfer(address,address,uint256)'"),
      }),
    )
  })
})
