import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clearCookie, createCookie, createSessionToken, isSessionToken, readCookie } from './sessionCookie.ts'

const secure = { secure: true }
const plain = { secure: false }

describe('the session cookie', () => {
  test('has the __Host- prefix over HTTPS, and none on loopback', () => {
    const expiresAt = Date.UTC(2026, 11, 24, 18)
    expect(createCookie('session', 't', { ...secure, expiresAt })).toBe(
      '__Host-keyrail-session=t; Path=/; Expires=Thu, 24 Dec 2026 18:00:00 GMT; HttpOnly; SameSite=Lax; Secure',
    )
    expect(createCookie('session', 't', { ...plain, expiresAt })).toBe(
      'keyrail-session=t; Path=/; Expires=Thu, 24 Dec 2026 18:00:00 GMT; HttpOnly; SameSite=Lax',
    )
    expect(clearCookie('session', secure)).toBe(
      '__Host-keyrail-session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax; Secure',
    )
  })

  test('contains 256 random bits', () => {
    const tokens = Array.from({ length: 100 }, createSessionToken)
    expect(new Set(tokens).size).toBe(100)
    expect(tokens.every((token) => isSessionToken(token) && Buffer.from(token, 'base64url').length === 32)).toBe(true)
  })

  test('is found by its exact name', () => {
    const token = createSessionToken()
    const read = (header: string | null | undefined) => readCookie('session', header, secure)
    expect(read(`a=b; __Host-keyrail-session=${token}; c=d`)).toBe(token)
    expect(read(`a=b;__Host-keyrail-session=${token}`)).toBe(token)
    for (const header of [
      null,
      undefined,
      '',
      token,
      `keyrail-session=${token}`,
      `x__Host-keyrail-session=${token}`,
      `__host-keyrail-session=${token}`,
      `__Host-keyrail-session="${token}"`,
      `__Host-keyrail-session=${token}A`,
      `__Host-keyrail-session =${token}`,
      `a=__Host-keyrail-session=${token}`,
      '__Host-keyrail-session=',
    ])
      expect(read(header)).toBeUndefined()
    expect(readCookie('session', `keyrail-session=${token}`, plain)).toBe(token)
    expect(readCookie('session', `__Host-keyrail-session=${token}`, plain)).toBeUndefined()
  })

  test('is ignored if a second one differs', () => {
    const [ours, planted] = [createSessionToken(), createSessionToken()]
    const cookie = (token: string) => `keyrail-session=${token}`
    expect(readCookie('session', `${cookie(ours)}; ${cookie(planted)}`, plain)).toBeUndefined()
    expect(readCookie('session', `${cookie(ours)}; ${cookie('')}`, plain)).toBeUndefined()
    expect(readCookie('session', `${cookie(ours)}; ${cookie(ours)}`, plain)).toBe(ours)
  })

  // The oracle parses character by character and shares no code with the implementation.
  const oracle = (header: string): string | undefined => {
    const found: string[] = []
    let [name, value, inValue] = ['', '', false]
    for (const character of `${header};`) {
      if (character === ';') {
        if (inValue && name.trimStart() === 'keyrail-session') found.push(value.trimEnd())
        ;[name, value, inValue] = ['', '', false]
      } else if (inValue) value += character
      else if (character === '=') inValue = true
      else name += character
    }
    const [first] = found
    if (first === undefined || found.some((other) => other !== first)) return undefined
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    return first.length === 43 && [...first].every((letter) => letters.includes(letter)) ? first : undefined
  }

  test('is parsed like by an independent parser, from any header', () => {
    const usual = createSessionToken()
    const token = fc.constantFrom(usual, usual, usual, createSessionToken())
    const good = token.map((text) => `keyrail-session=${text}`)
    const pair = fc.oneof(
      good,
      good,
      good,
      fc.tuple(good, fc.constantFrom('', ' ', '=', '"', 'A', '\t')).map((parts) => parts.join('')),
      fc.tuple(fc.constantFrom('', ' ', 'a', '__Host-', '\t'), good).map((parts) => parts.join('')),
      fc.string({ maxLength: 20 }),
      fc.constantFrom('a=b', 'keyrail-session', 'keyrail-session=', '=', ''),
    )
    const header = fc.array(pair, { maxLength: 5 }).chain((pairs) => fc.constantFrom(pairs.join('; '), pairs.join(';')))
    let accepted = 0
    let seen = 0
    fc.assert(
      fc.property(header, (text) => {
        const read = readCookie('session', text, plain)
        seen += 1
        if (read !== undefined) accepted += 1
        expect(read).toBe(oracle(text))
      }),
      { numRuns: 2_000 },
    )
    expect(accepted / seen).toBeGreaterThan(0.3)
  })
})

test('the cookie of a log-in that waits for a second factor fits a browser, with what it connects', () => {
  const pending = ['usr_0123456789abcdefghij', Date.UTC(2026, 11, 24, 18), 'a'.repeat(22), 'b'.repeat(43)].join('.')
  const read = (token: string) => readCookie('log-in', createCookie('log-in', token, { ...plain, expiresAt: 0 }), plain)
  for (const token of [pending, `${pending}.${'c'.repeat(3_000)}`, createSessionToken()]) {
    expect(createCookie('log-in', token, { ...secure, expiresAt: 0 }).length).toBeLessThan(4_096)
    expect(read(token)).toBe(token)
  }
  for (const token of [`${pending}.`, `${pending}.${'c'.repeat(3_001)}`, `${pending}.c.c`, pending.slice(4)])
    expect(read(token)).toBeUndefined()
})
