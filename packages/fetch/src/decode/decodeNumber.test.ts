import { describe, expect, test } from 'vitest'
import { decodeNumber } from './decodeNumber.ts'

describe('decodeNumber', () => {
  test('reads a quantity that a number holds exactly', () => {
    expect(decodeNumber('0x10', 'nonce')).toBe(16)
    expect(decodeNumber('0x1fffffffffffff', 'nonce')).toBe(Number.MAX_SAFE_INTEGER)
  })

  test.each(['0x20000000000000', `0x${'f'.repeat(64)}`, '0x', 'latest'])('rejects %s', (value) => {
    expect(() => decodeNumber(value, 'nonce')).toThrow(expect.objectContaining({ kind: 'badResponse' }))
  })
})
