import { describe, expect, test } from 'vitest'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { checkRequestHeaders, findHeaderSecrets } from './requestHeaders.ts'

const secret = 'abcdefghijklmnopqrstuvwxyz0123456789'

const rejection = (headers: unknown, authorizedBy?: string): string => {
  try {
    checkRequestHeaders(headers, authorizedBy)
  } catch (error) {
    expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
    return (error as Error).message
  }
  return 'none'
}

describe('checkRequestHeaders', () => {
  test('copies the headers, with lower-case names', () => {
    const given: Record<string, string> = { 'X-Team': 'wallet', 'cf-access-client-id': 'a b;c="d"\te' }
    const headers = checkRequestHeaders(given, undefined)
    given['X-Team'] = 'changed'
    expect(headers).toEqual({ 'x-team': 'wallet', 'cf-access-client-id': 'a b;c="d"\te' })
  })

  test('accepts an object without a prototype, and names that every object has', () => {
    const given = Object.assign(Object.create(null) as object, { constructor: 'a', hasownproperty: 'b' })
    expect(checkRequestHeaders(given, undefined)).toEqual({ constructor: 'a', hasownproperty: 'b' })
  })

  test.each<[given: unknown, type: string]>([
    [null, 'null'],
    [undefined, 'undefined'],
    [secret, 'a string'],
    [['x-team', secret], 'an array'],
    [new Headers({ 'x-team': secret }), 'an object'],
    [new Map([['x-team', secret]]), 'an object'],
    [new URLSearchParams({ 'x-team': secret }), 'an object'],
  ])('rejects %s, which is not an object of headers', (given, type) => {
    expect(rejection(given)).toBe(`headers must be an object such as { 'x-team': 'wallet' }, not ${type}.`)
  })

  test.each(['content-type', 'Content-Length', 'HOST', 'connection', 'transfer-encoding', 'accept-encoding', 'te'])(
    'rejects %s, which the HTTP client sets',
    (name) => {
      expect(rejection({ [name]: secret })).toBe(
        `headers contains "${name.toLowerCase()}", which the HTTP client sets. Remove it.`,
      )
    },
  )

  test('rejects authorization only when something else sets it', () => {
    expect(rejection({ Authorization: 'Bearer x' })).toBe('none')
    expect(rejection({ Authorization: secret }, 'jwt')).toBe(
      'headers contains "authorization", which jwt sets too. Remove one of them.',
    )
  })

  test('rejects a name that is given twice', () => {
    expect(rejection({ 'X-Team': secret, 'x-team': secret })).toBe(
      'headers contains "x-team" twice, in different letter case. Remove one.',
    )
  })

  test.each([
    '',
    'x team',
    'x-team:',
    'x-team\r\nx-other',
    'x\0',
    'x"team',
    'x/team',
    'tëam',
    `${secret} `,
    '__proto__',
  ])('rejects the name %j without showing it', (name) => {
    expect(rejection({ [name]: 'a' })).toBe(
      'headers contains a name with characters that HTTP does not allow. Use letters, digits and "-".',
    )
  })

  test.each(['\r\nx-admin: 1', '\n', '\r', '\0', '\x7f', '\u0100', 'é', '\u2028', '😀'])(
    'rejects a value that contains %j without showing it',
    (text) => {
      for (const value of [secret + text, text + secret, secret + text + secret])
        expect(rejection({ 'x-team': value })).toBe(
          'The header "x-team" contains a line break or another character that HTTP does not allow. Copy its value again.',
        )
    },
  )

  test.each(['', '  ', '\t', undefined, null, 5, true, [secret], { secret }])('rejects the value %j', (value) => {
    expect(rejection({ 'x-team': value })).toBe(
      'The header "x-team" must be a string that is not empty. If it comes from an environment variable, check that it is set.',
    )
  })

  test('does not show a name that may be a key', () => {
    expect(rejection({ [secret]: '' })).toContain('The header "…" must be')
  })
})

describe('findHeaderSecrets', () => {
  test('separates a token from its scheme, and omits short words', () => {
    expect(findHeaderSecrets({ a: 'Bearer abcdefgh', b: 'wallet', c: 'id="12345678" x', d: 'one two three' })).toEqual([
      'abcdefgh',
      '12345678',
      'one two three',
    ])
  })
})
