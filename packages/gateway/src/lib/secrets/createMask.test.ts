import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectPreciseMask } from '@keyrail/core/test/expectPreciseMask.ts'
import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import { readableRuns, secretSpellings } from '@keyrail/core/test/secretSpellings.ts'
import { createMask } from './createMask.ts'

const key = 'kr_aNotARealKey0123456789abcdefghijklmnop'
const maskSecret = (text: string, secret = key): string => createMask([secret])(text, '…')

/** A key, a key of hex digits, one with the special characters of base64url, one with punctuation, and a short one. */
const keys = [key, '0123456789abcdef0123456789ABCDEF', '_-aB3_-xY9__--zZ12_-', 'correct.horse/battery', 'pass1234']

describe('createMask', () => {
  describe.each(Object.entries(secretSpellings))('masks a secret %s', (_, spell) => {
    test.each(keys)('%s', (secret) => {
      const spelled = spell(secret)
      // Part of a short secret can be too short to mask.
      if (secret.length > 20) expect(readableRuns(spelled, secret)).not.toEqual([])
      const shown = maskSecret(`<${spelled}>`, secret)
      expect(readableRuns(shown, secret)).toEqual([])
      expect(shown).toMatch(/^<.*>$/s)
    })
  })

  test('masks only the secret', () => {
    expect(maskSecret(`POST /v2/${key} failed`)).toBe('POST /v2/… failed')
    expect(maskSecret(`key k r _ ${Array.from(key.slice(3)).join(' ')} is unknown`)).toBe('key … is unknown')
    expect(maskSecret(`authorization: Basic ${Buffer.from(`me:${key}`).toString('base64')}, twice`)).toMatch(
      /^authorization: Basic bWU6….?=, twice$/,
    )
    expect(maskSecret(`<${encodeURIComponent(`a/${key}/b`)}>`)).toBe('<a%2F…%2Fb>')
    expect(maskSecret(`0x${Buffer.from(key).toString('hex')}ff`)).toBe('0x…ff')
  })

  test('masks a secret that starts inside an escape', () => {
    expect(maskSecret(`"\\nsecret-of-mine"`, 'nsecret-of-mine')).toBe('"\\n…"')
  })

  test('masks whole words only as a whole, in any letter case and escape', () => {
    const mask = createMask(['s3cr3tK3y'], ['https://node.example/v2'])
    expect(mask('see https://docs.example, not HTTPS://node.example%2Fv2 or node.example', '…')).toBe(
      'see https://docs.example, not … or node.example',
    )
  })

  test('does not change a text that shares fewer than 8 characters with the secret', () => {
    expect(maskSecret('RealKey, realkey0 and ealKey01'.replace('realkey0', 'realkey'))).toBe('RealKey, realkey and …')
    expectPreciseMask(maskSecret, key, 500)
  })

  test('does not change chain data, which contains every digit', () => {
    const words = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(words, (all) => {
        const data = `{"code":3,"message":"execution reverted","data":"0x08c379a0${Buffer.concat(all).toString('hex')}"}`
        expect(maskSecret(data)).toBe(data)
      }),
    )
  })

  test('leaves no eight characters readable in any mix of spellings', () => {
    const spelled = fc.constantFrom(...Object.values(secretSpellings)).map((spell) => spell(key))
    const part = fc
      .tuple(fc.nat(40), fc.integer({ min: 4, max: 20 }))
      .map(([from, length]) => key.slice(from, from + length))
    const piece = fc.oneof(spelled, part, fc.constantFrom(' at ', '"', ': ', '\n', '%', 'AAAA'))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        expect(readableRuns(maskSecret(pieces.join('')), key)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  test('takes time in proportion to the text, for any text', () => {
    const mask = createMask(Array.from({ length: 32 }, (_, at) => 'a'.repeat(40) + String(at).padStart(8, 'b')))
    const size = 500_000
    for (const letters of ['a', 'A', '\\', '%61', '%25', '\\u0061', '61', 'YWFh', 'a ', '&#x61;', '"[{'])
      expect([letters, cpuMs(() => mask(letters.repeat(size / letters.length), '…')) < 5_000]).toEqual([letters, true])
    const spread = `aaaa${' '.repeat(size)}aaaa`
    expect(mask(spread, '…')).toBe('…')
  })
})
