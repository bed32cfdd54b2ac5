import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createApiKey, isApiKey, parseApiKey } from './apiKey.ts'

const kinds = ['app', 'testnet', 'mainnet'] as const
const kind = fc.constantFrom(...kinds)
const shape = /^kr_[atm][0-9A-Za-z]{39}$/
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')
const fromBase62 = (text: string): bigint =>
  text.split('').reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)

describe('createApiKey', () => {
  test('creates keys of the documented shape: 192 bits, then the CRC-32 of everything before', () => {
    fc.assert(
      fc.property(kind, (made) => {
        const key = createApiKey(made)
        expect(key).toMatch(shape)
        expect(parseApiKey(key)).toEqual({ kind: made })
        expect(fromBase62(key.slice(4, 37)) < 2n ** 192n).toBe(true)
        expect(fromBase62(key.slice(37))).toBe(BigInt(crc32(key.slice(0, 37))))
      }),
      { numRuns: 1_000 },
    )
  })

  test('uses all bits: each bit is set in some keys and not in others', () => {
    const values = Array.from({ length: 200 }, () => fromBase62(createApiKey('app').slice(4, 37)))
    const always = values.reduce((all, value) => all & value)
    const ever = values.reduce((all, value) => all | value)
    expect([always, ever]).toEqual([0n, 2n ** 192n - 1n])
  })
})

describe('isApiKey', () => {
  test('rejects a key with one changed character', () => {
    fc.assert(
      fc.property(kind, fc.nat({ max: 42 }), fc.constantFrom(...digits, '_', '-', '%', ' '), (made, place, letter) => {
        const key = createApiKey(made)
        fc.pre(key[place] !== letter)
        expect(isApiKey(key.slice(0, place) + letter + key.slice(place + 1))).toBe(false)
      }),
      { numRuns: 3_000 },
    )
  })

  test('rejects a key with two adjacent characters swapped', () => {
    fc.assert(
      fc.property(kind, fc.nat({ max: 41 }), (made, place) => {
        const key = createApiKey(made)
        fc.pre(key[place] !== key[place + 1])
        expect(isApiKey(`${key.slice(0, place)}${key[place + 1]}${key[place]}${key.slice(place + 2)}`)).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })

  test('rejects a key that is cut off or has extra characters', () => {
    const key = createApiKey('app')
    for (const text of ['', key.slice(1), key.slice(0, -1), ` ${key}`, `${key}\n`, `${key}/`, key + key])
      expect(isApiKey(text)).toBe(false)
  })

  test('rejects any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isApiKey(text)).toBe(false)
      }),
    )
  })
})
