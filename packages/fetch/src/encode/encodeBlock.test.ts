import { describe, expect, test } from 'vitest'
import { encodeBlock } from './encodeBlock.ts'

describe('encodeBlock', () => {
  test.each<[bigint | number | `0x${string}` | 'latest' | 'safe' | 'finalized' | 'earliest' | 'pending', string]>([
    [16n, '0x10'],
    [0, '0x0'],
    ['latest', 'latest'],
    ['safe', 'safe'],
    ['finalized', 'finalized'],
    ['earliest', 'earliest'],
    ['pending', 'pending'],
    ['0x10', '0x10'],
    ['0x0', '0x0'],
    [`0x${'0a'.repeat(32)}`, `0x${'0a'.repeat(32)}`],
  ])('writes %s', (block, wanted) => {
    expect(encodeBlock(block)).toBe(wanted)
  })

  test('uses the latest by default', () => {
    expect(encodeBlock()).toBe('latest')
  })

  test.each([-1, 1.5, -1n, '', 'Latest', 'newest', '16', '0x', '0x010', '0xzz', `0x${'a'.repeat(65)}`, null, {}, []])(
    'rejects %s',
    (block) => {
      const encode = (): unknown => encodeBlock(block as bigint, 'fromBlock')
      expect(encode).toThrow(expect.objectContaining({ kind: 'invalidRequest', source: 'client' }))
      expect(encode).toThrow('fromBlock')
    },
  )
})
