import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectPreciseMask } from '../../test/expectPreciseMask.ts'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { readableRuns, secretSpellings } from '../../test/secretSpellings.ts'
import { mask } from './mask.ts'

const key = 'kr_aNotARealKey0123456789abcdefghijklmnop'

describe('mask', () => {
  test('finds a secret in other letter case', () => {
    expect(mask(`at ${key.toUpperCase()} İ${key.toLowerCase().slice(4, 20)}.`, [key], '')).toBe('at … İ….')
  })

  test.each(['a', '\\', '%61', '"[{'])('takes time linear in a long text of %j, with 32 similar secrets', (part) => {
    const secrets = Array.from({ length: 32 }, (_, at) => `a`.repeat(40) + String(at).padStart(8, 'b'))
    const growth = costGrowth(60_000 / part.length, (size) => {
      const text = part.repeat(size)
      return () => mask(text, secrets, '')
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
  })

  test('returns the fallback if nesting is deeper than 1,000, and does not count brackets in texts', () => {
    expect(mask<unknown>(JSON.parse('['.repeat(1_001) + ']'.repeat(1_001)), [key], 'too deep')).toBe('too deep')
    expect(mask('[{\\"'.repeat(5_000), [key], 'too deep')).toBe('[{\\"'.repeat(5_000))
  })

  test.each(Object.entries(secretSpellings))('replaces a secret %s, in a text and in an object', (_, spell) => {
    const text = `<${spell(key)}>`
    const object = mask<object>({ [text]: [text], ok: 1 }, [key], {})
    for (const shown of [mask(text, [key], ''), ...Object.keys(object), String(Object.values(object)[0])])
      expect(readableRuns(shown, key)).toEqual([])
    expect(object).toMatchObject({ ok: 1 })
    expect(mask(text, [key], '')).toMatch(/^<.*>$/s)
  })

  test.each(['0123456789abcdef0123456789ABCDEF', '_-aB3_-xY9__--zZ12_-', 'correct.horse/battery', 'pass1234'])(
    'replaces the secret %s in every spelling',
    (secret) => {
      for (const [name, spell] of Object.entries(secretSpellings))
        expect([name, readableRuns(mask(`<${spell(secret)}>`, [secret], ''), secret)]).toEqual([name, []])
    },
  )

  test('replaces the bytes of a secret that is not ASCII', () => {
    const secret = 'pä$$wörd-für-ünser'
    const bytes = Buffer.from(secret)
    for (const text of [secret, encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('hex')])
      expect(mask(`<${text}>`, [secret], '')).toMatch(/^<.{0,2}….{0,3}>$/)
    expect(mask('all is well', ['пароль-пароль'], '')).toBe('all is well')
  })

  test('does not join the name of a member with its value', () => {
    const secret = `message-${key}`
    expect(mask<unknown>({ message: key, data: `<${key}>` }, [secret], 'gone')).toEqual({ message: '…', data: '<…>' })
  })

  test('replaces no more than the secret', () => {
    const hide = (text: string): string => mask(text, [key], '')
    expect(hide(`key ${Array.from(key).join(' ')} is unknown`)).toBe('key … is unknown')
    expect(hide(`<${encodeURIComponent(`a/${key}/b`)}>`)).toBe('<a%2F…%2Fb>')
    expect(hide(`0x${Buffer.from(key).toString('hex')}ff`)).toBe('0x…ff')
    expect(hide(`Basic ${Buffer.from(`user:${key}`).toString('base64')}, twice`)).toMatch(
      /^Basic dXNlcj.?….?=?=?, twice$/,
    )
  })

  test('leaves a text that shares fewer than eight characters in a row with the secret', () => {
    expectPreciseMask((text) => mask(text, [key], 'gone'), key, 2_000)
  })

  test('leaves chain data, which has every digit in it', () => {
    const words = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(words, (all) => {
        const error = {
          code: 3,
          message: 'execution reverted',
          data: `0x08c379a0${Buffer.concat(all).toString('hex')}`,
        }
        expect(mask<unknown>(error, [key], 'gone')).toEqual(error)
      }),
    )
  })

  test('leaves nothing to read in any mix of spellings', () => {
    const spelled = fc.constantFrom(...Object.values(secretSpellings)).map((spell) => spell(key))
    const part = fc
      .tuple(fc.nat(40), fc.integer({ min: 4, max: 20 }))
      .map(([from, length]) => key.slice(from, from + length))
    const piece = fc.oneof(spelled, part, fc.constantFrom(' at ', '"', ': ', '\n', '%', 'AAAA'))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        expect(readableRuns(mask(pieces.join(''), [key], 'gone'), key)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('replaces a secret in a text', () => {
    expect(mask(`POST /v2/${key} failed`, [key], '')).toBe('POST /v2/… failed')
  })

  test('replaces a run of eight characters, and leaves one of seven', () => {
    expect(mask('RealKey0', [key], '')).toBe('…')
    expect(mask('RealKey', [key], '')).toBe('RealKey')
  })

  test('replaces a run as a whole, and what is left of it too', () => {
    expect(mask(`<${key.slice(3, 30)}>`, [key], '')).toBe('<…>')
    expect(mask(`${key.slice(0, 10)}${key.slice(20, 35)}`, [key], '')).toBe('…')
  })

  test('replaces a secret shorter than eight characters only if all of it is there', () => {
    expect(mask('pin 1234, 123', ['1234'], '')).toBe('pin …, 123')
  })

  test('replaces several secrets', () => {
    expect(mask(`${key} hunter2hunter2`, [key, 'hunter2hunter2'], '')).toBe('… …')
  })

  test('replaces nothing for an empty secret', () => {
    expect(mask('abc', [''], '')).toBe('abc')
  })

  test('finds percent-encoded, JSON-escaped and mixed spellings', () => {
    const secret = 'p@ss/word&1=x'
    const json = JSON.stringify(secret).slice(1, -1)
    for (const text of [
      secret,
      json,
      JSON.stringify(json).slice(1, -1),
      secret.replaceAll('/', '\\/'),
      secret.replaceAll('/', '%2f').replaceAll('@', '%40'),
      secret.replaceAll(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ])
      expect(mask(`at ${text} end`, [secret], '')).toBe('at … end')
    expect(mask(encodeURIComponent('a b/c?d=e&f'), ['a b/c?d=e&f'], '')).toBe('…')
  })

  test('finds a secret that is itself percent-encoded', () => {
    expect(mask('at /a%2Fb%2Fc%2Fd end', ['a%2Fb%2Fc%2Fd'], '')).toBe('at /… end')
  })

  test('goes through arrays and objects, keys included', () => {
    const value = { [key]: [{ url: `x/${key}`, n: 1, b: true, z: null }], ok: 'fine' }
    expect(mask<unknown>(value, [key], {})).toEqual({ '…': [{ url: 'x/…', n: 1, b: true, z: null }], ok: 'fine' })
  })

  test('treats a member named __proto__ like any other', () => {
    const value = JSON.parse('{"__proto__":{"a":"b"}}') as object
    const masked = mask(value, [key], {})
    expect(Object.keys(masked)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype)
  })

  test('returns the fallback if a number was cut', () => {
    expect(mask<object>({ block: 1234567890 }, ['1234567890ab'], { gone: true })).toEqual({ gone: true })
  })

  test('leaves line separators and long texts below the limit unchanged', () => {
    expect(mask(`a\u2028b\u2029${key}\n\r`, [key], '')).toBe('a\u2028b\u2029…\n\r')
    expect(mask('x'.repeat(60_000), [key], '')).toHaveLength(60_000)
  })

  test('returns the fallback if a text is too long', () => {
    expect(mask('x'.repeat(66_000), [key], 'too long')).toBe('too long')
  })

  test('returns the fallback if a value is nested 50,000 levels deep', () => {
    const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
    const masked = mask<unknown>(deep, [key], 'too deep')
    // Engines differ in how deep they can write; none may throw.
    expect(masked === 'too deep' || Array.isArray(masked)).toBe(true)
  })

  const secrets = fc.oneof(
    fc.string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(...Array.from('abcXYZ0189_-')) }),
    fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(...Array.from("ab%2F04.~!$&'()*+,;=:@-_")) }),
  )

  test('no eight characters of a secret in a row survive, in any text', () => {
    const pieces = (secret: string): fc.Arbitrary<string> =>
      fc
        .array(
          fc.oneof(
            fc.string(),
            fc.constantFrom(
              secret,
              secret.slice(1),
              secret.slice(0, -1),
              encodeURIComponent(secret),
              JSON.stringify(secret).slice(1, -1),
            ),
            fc.tuple(fc.nat(60), fc.nat(60)).map(([from, to]) => secret.slice(from, to)),
          ),
        )
        .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        secrets.chain((secret) => fc.tuple(fc.constant(secret), pieces(secret), pieces(secret))),
        ([secret, text, name]) => {
          const masked = mask(text, [secret], '')
          const shown = [masked, decoded(masked)]
          const walked = mask({ [name]: [text] }, [secret], {})
          for (const [key, value] of Object.entries(walked)) shown.push(key, ...(value as string[]))
          for (const one of shown)
            for (let at = 0; at + 8 <= secret.length; at++) expect(one).not.toContain(secret.slice(at, at + 8))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('leaves any JSON value without the secret as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown
        expect(mask<unknown>(plain, ['§§§§§§§§§§§§'], 'gone')).toEqual(plain)
      }),
    )
  })
})

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
