import { describe, expect, test } from 'vitest'
import { decodeHex } from './decodeHex.ts'

describe('decodeHex', () => {
  test('passes on bytes unchanged', () => {
    expect(decodeHex('0x', 'code')).toBe('0x')
    expect(decodeHex('0xC0de', 'code')).toBe('0xC0de')
    expect(decodeHex('0xC0de', 'code', 2)).toBe('0xC0de')
  })

  test.each([
    ['null', null],
    ['a number', 192],
    ['half a byte', '0xc0d'],
    ['no prefix', 'c0de'],
    ['other letters', '0xnode'],
  ])('rejects %s', (_, value) => {
    expect(() => decodeHex(value, 'code')).toThrow(expect.objectContaining({ kind: 'badResponse' }))
  })

  test('rejects another length than the expected one', () => {
    expect(() => decodeHex('0xc0de', 'hash', 32)).toThrow('hash is not hex of 32 bytes')
  })
})
