import { describe, expect, test } from 'vitest'
import { encodeQuantity } from './encodeQuantity.ts'

describe('encodeQuantity', () => {
  test.each([
    [0, '0x0'],
    [-0, '0x0'],
    [255, '0xff'],
    [Number.MAX_SAFE_INTEGER, '0x1fffffffffffff'],
    [0n, '0x0'],
    [10n ** 18n, '0xde0b6b3a7640000'],
    [2n ** 256n - 1n, `0x${'f'.repeat(64)}`],
  ])('writes %s', (value, wanted) => {
    expect(encodeQuantity(value, 'value')).toBe(wanted)
  })

  test.each<[unknown, string]>([
    [0.5, 'round'],
    [Number.NaN, 'whole number'],
    [Infinity, 'whole number'],
    [1e21, 'bigint'],
    [2 ** 53, 'bigint'],
    [-1, 'negative'],
    [-1n, 'negative'],
    [2n ** 256n, '2^256'],
    ['16', 'bigint'],
    [null, 'bigint'],
    [undefined, 'bigint'],
    [{}, 'bigint'],
  ])('rejects %s with its name and how to fix it', (value, fix) => {
    const encode = (): unknown => encodeQuantity(value as bigint, 'blockCount')
    expect(encode).toThrow(expect.objectContaining({ kind: 'invalidRequest', source: 'client', retryable: false }))
    expect(encode).toThrow('blockCount')
    expect(encode).toThrow(fix)
  })
})
