import { describe, expect, test } from 'vitest'
import { decodeQuantity } from './decodeQuantity.ts'

describe('decodeQuantity', () => {
  test.each([
    ['0x0', 0n],
    ['0x10', 16n],
    ['0xDe0b6B3a7640000', 10n ** 18n],
    ['0x00ff', 255n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
  ])('reads %s', (value, wanted) => {
    expect(decodeQuantity(value, 'balance')).toBe(wanted)
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 16],
    ['a decimal string', '16'],
    ['nothing', ''],
    ['no digits', '0x'],
    ['a sign', '-0x10'],
    ['white space', ' 0x10'],
    ['a line break', '0x10\n'],
    ['other letters', '0xzz'],
    ['an array that prints as a quantity', ['0x10']],
    ['more than 256 bits', `0x1${'0'.repeat(64)}`],
  ])('rejects %s without repeating it', (_, value) => {
    expect(() => decodeQuantity(value, 'block.gasUsed')).toThrow(
      expect.objectContaining({
        kind: 'badResponse',
        source: 'node',
        retryable: false,
        message: 'block.gasUsed is not a hex quantity',
      }),
    )
  })
})
