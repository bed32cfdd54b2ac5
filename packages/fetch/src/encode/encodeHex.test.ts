import { describe, expect, test } from 'vitest'
import { encodeHex } from './encodeHex.ts'

describe('encodeHex', () => {
  test('passes on bytes unchanged', () => {
    expect(encodeHex('0x', 'data')).toBe('0x')
    expect(encodeHex('0xC0de', 'data', 2)).toBe('0xC0de')
  })

  test.each<[unknown, number | undefined, string]>([
    ['name.eth', 20, 'resolve a name'],
    ['0x1', undefined, 'even'],
    ['c0de', 2, '4 hex digits'],
    ['0xc0de', 32, '64 hex digits'],
    [undefined, 20, '40 hex digits'],
    [1n, undefined, 'hex'],
  ])('rejects %s for %s bytes', (value, bytes, fix) => {
    const encode = (): unknown => encodeHex(value as '0x', 'address', bytes)
    expect(encode).toThrow(expect.objectContaining({ kind: 'invalidRequest', source: 'client' }))
    expect(encode).toThrow(fix)
  })
})
