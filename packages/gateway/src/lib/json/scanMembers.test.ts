import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getMember, scanItems, scanMembers } from './scanMembers.ts'

/** JSON texts with white space anywhere, numbers in odd spellings, escapes and repeated names. */
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const scalar = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    'false',
    '1.0',
    '-0',
    '1e400',
    '9007199254740993',
    '"\\u0061"',
    '"\\\\"',
    '"\\"]}"',
    '"{[,:"',
  ),
  fc.string().map((text) => JSON.stringify(text)),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
)
const name = fc.oneof(
  fc.constantFrom('"id"', '"\\u0069d"', '"__proto__"', '"a\\"b"'),
  fc.string().map((text) => JSON.stringify(text)),
)
const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc
      .array(
        fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
        { maxLength: 4 },
      )
      .map((items) => `[${items.join(',')}]`),
    fc
      .array(
        fc.tuple(space, name, space, fc.constant(':'), space, tie('value'), space).map((parts) => parts.join('')),
        { maxLength: 4 },
      )
      .map((items) => `{${items.join(',')}}`),
  ),
}))
const padded = fc.tuple(space, json, space).map((parts) => parts.join(''))

const parsed = (text: string): unknown => JSON.parse(text)

describe('scanMembers', () => {
  test('agrees with JSON.parse on the members', () => {
    fc.assert(
      fc.property(padded, (text) => {
        const value = parsed(text)
        const scanned = scanMembers(text)
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        expect(scanned !== undefined).toBe(isObject)
        if (scanned === undefined) return
        const rebuilt: [string, unknown][] = scanned.members.map((member) => [
          member.name,
          parsed(text.slice(member.start, member.end)),
        ])
        // The last of a repeated name wins, both in JSON.parse and in fromEntries.
        expect(Object.fromEntries(rebuilt)).toEqual(value)
        expect(text.slice(scanned.end).trim()).toBe('')
      }),
      { numRuns: 1_000 },
    )
  })

  test('returns the source text of each value, without white space around it', () => {
    const text = ' { "id" : 1.0 , "\\u0069d":[ 1 ] }'
    expect(scanMembers(text)?.members.map(({ name: found, start, end }) => [found, text.slice(start, end)])).toEqual([
      ['id', '1.0'],
      ['id', '[ 1 ]'],
    ])
  })

  test('ends on any text, and finds an object in JSON only if there is one', () => {
    const letters = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', ' ', '1', 'a', 'null', '"a"'), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(letters, (parts) => {
        const text = parts.join('')
        let isObject = false
        try {
          const value = parsed(text)
          isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        } catch {
          // Not JSON: the scan must only end.
          scanMembers(text)
          return
        }
        expect(scanMembers(text) !== undefined).toBe(isObject)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":"',
    '{"a":[}',
    '{"a":{"b":1}',
    '[]',
    '1',
    '{"\\x":1}',
  ])('is undefined for %s', (text) => {
    expect(scanMembers(text)).toBeUndefined()
  })
})

describe('scanItems', () => {
  test('agrees with JSON.parse on the items', () => {
    fc.assert(
      fc.property(padded, (text) => {
        const value = parsed(text)
        const scanned = scanItems(text)
        expect(scanned !== undefined).toBe(Array.isArray(value))
        if (scanned === undefined) return
        expect(scanned.items.map(({ start, end }) => parsed(text.slice(start, end)))).toEqual(value)
        expect(scanned.count).toBe(scanned.items.length)
      }),
      { numRuns: 1_000 },
    )
  })

  test('counts items beyond the limit without returning them', () => {
    expect(scanItems('[1,2,3]', 0, 2)).toMatchObject({ count: 3, items: [{ start: 1 }, { start: 3 }] })
  })

  test('a string with many escaped quotes takes linear time', () => {
    const text = `["${'\\\\\\"'.repeat(1_000_000)}"]`
    const scan = (): void =>
      expect(scanItems(text)).toEqual({ items: [{ start: 1, end: text.length - 1 }], count: 1, end: text.length })
    expect(cpuMs(scan)).toBeLessThan(1_000)
  })
})

test.each([
  ['{"a":1,"b":{"c":[2]}}', 'b', '{"c":[2]}'],
  ['{"\\u0062":1.0}', 'b', '1.0'],
  ['{"a":{"b":1}}', 'b', undefined],
  ['{"b":1,"b":1}', 'b', undefined],
  ['[1]', 'b', undefined],
])('the member of %s with the name %s is %s', (text, wanted, source) => {
  expect(getMember(text, wanted)).toBe(source)
  expect(getMember(`[${text}]`, wanted, 1)).toBe(source)
})

test('an object with too many members has none', () => {
  expect([getMember('{"a":1,"b":2}', 'a', 0, 2), getMember('{"a":1,"b":2}', 'a', 0, 1)]).toEqual(['1', undefined])
})
