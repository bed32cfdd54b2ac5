import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { checkJson } from './checkJson.ts'

const check = (text: string, maxDepth = 64): string => checkJson(Buffer.from(text), maxDepth)
const isParsed = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
const tokens = [
  '{ } [ ] " "a" "id" : , 1 0 01 - . e E5 + null nul true false \\ \\u00 \\n é'.split(' '),
  [' ', '\t', '\u{feff}', '\u0000'],
].flat()
const nested = (depth: number, inner = ''): string => '['.repeat(depth) + inner + ']'.repeat(depth)

describe('checkJson', () => {
  test.each([
    '',
    ' ',
    '0',
    '-0',
    '00',
    '-',
    '+1',
    '1.',
    '.1',
    '1.5e+10',
    '1e',
    '1e+',
    '1E-2',
    '0x1',
    'true',
    'tru',
    'truE',
    'trueX',
    'null,',
    'NaN',
    'Infinity',
    '"',
    '"a',
    '"\\"',
    '"\\',
    '"\\u12"',
    '"\\u12G4"',
    '"\\u1234"',
    '"\\x"',
    '"\\/\\b\\f\\n\\r\\t\\""',
    '"\u0000"',
    '"\u001f"',
    '"\u007f\u2028\u{1f600}"',
    "'a'",
    '[',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1}',
    ' [ 1 , [ ] , { } ] ',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{1:1}',
    '{"a":1 "b":2}',
    '{"a":1,"a":2}',
    '{ "a" : { } , "b" : [ ] }',
    '\u{feff}{}',
    '[1]\u00a0',
    '\u000b1',
    '1 1',
    '{}{}',
    '/**/1',
  ])('agrees with JSON.parse on %j', (text) => {
    expect(check(text)).toBe(isParsed(text) ? 'json' : 'malformed')
  })

  test('agrees with JSON.parse on any text', () => {
    const pieces = fc.constantFrom(...tokens)
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      fc.json(),
      fc.json().chain((json) => fc.nat(json.length).map((end) => json.slice(0, end))),
      fc.tuple(fc.json(), fc.nat(), pieces).map(([json, at, piece]) => {
        const place = at % (json.length + 1)
        return json.slice(0, place) + piece + json.slice(place)
      }),
    )
    fc.assert(
      fc.property(text, (given) => {
        // UTF-8 replaces a lone surrogate, so compare what was sent.
        const sent = Buffer.from(given).toString()
        expect(check(sent, 1_000)).toBe(isParsed(sent) ? 'json' : 'malformed')
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })

  test.each([
    [nested(64), 'json'],
    [nested(65), 'tooDeep'],
    ['['.repeat(64), 'malformed'],
    ['['.repeat(65), 'tooDeep'],
    [nested(63, '{}'), 'json'],
    [nested(64, '{}'), 'tooDeep'],
    ['{"a":'.repeat(64) + '1' + '}'.repeat(64), 'json'],
    ['{"a":'.repeat(65), 'tooDeep'],
    [`[${Array(1_000).fill(nested(63)).join(',')}]`, 'json'],
    [`"${'['.repeat(100)}"`, 'json'],
    [`{"${'['.repeat(100)}":"\\"${'{'.repeat(100)}"}`, 'json'],
  ])('with at most 64 levels: %#', (text, expected) => {
    expect(check(text)).toBe(expected)
  })

  test('stops at the level that is too deep', () => {
    let read = 0
    const bytes = new Proxy(Buffer.from('['.repeat(1_000_000)), {
      get: (target, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) read = Math.max(read, Number(name))
        return Reflect.get(target, name) as unknown
      },
    })
    expect(checkJson(bytes, 64)).toBe('tooDeep')
    expect(read).toBe(64)
  })

  test('a thousand levels do not overflow the stack', () => {
    expect(checkJson(Buffer.from(nested(1_000)), 1_000)).toBe('json')
  })
})
