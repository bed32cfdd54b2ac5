import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasAmbiguousName } from './hasAmbiguousName.ts'

describe('hasAmbiguousName', () => {
  test.each([
    ['{}', false],
    ['[]', false],
    ['"a"', false],
    ['{"a":1,"b":1}', false],
    ['{"a":1,"a":1}', true],
    ['{"a":1,"A":2}', true],
    ['{"stateOverrides":1,"ſtateOverrides":2}', true],
    ['{"k":1,"\u212a":2}', true],
    ['{"to":1,"from":2}', false],
    ['{"\\u0061":1}', true],
    ['{"a\\"":1}', true],
    ['{"a":1 , "b":{"a":1}, "c":[{"a":1},{"a":1}]}', false],
    ['[{"x":[{"a":1},{"a":1,"b":{},"a" :2}]}]', true],
    ['{"a":"a","b":"a"}', false],
    ['["a","a",{"a":["a","a"]}]', false],
    ['{"a":"\\\\","a":2}', true],
    ['{"a":"{\\"a\\":1,","b":"a\\":"}', false],
    ['{"__proto__":1,"__proto__":2}', true],
  ])('%s: %s', (text, expected) => {
    expect(hasAmbiguousName(text)).toBe(expected)
  })

  test('agrees with the number of members that survive JSON.parse and JSON.stringify', () => {
    const name = fc.constantFrom('"a"', '"A"', '"b"', '""', '"a:"', '"{"')
    const space = fc.constantFrom('', ' ', '\n\t')
    const { value: json } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('1', 'null', '"a"', '"\\"a\\":"', '"{"', '"]"', '"\\\\"'),
        fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(space, name, space, fc.constant(':'), tie('value'), space), { maxLength: 4 })
          .map((items) => `{${items.map((parts) => parts.join('')).join(',')}}`),
      ),
    }))
    /** Every member has a colon outside of strings. A member that is lost was repeated. */
    const countMembers = (text: string): number => text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
    const seen = { repeated: 0, all: 0 }
    fc.assert(
      fc.property(json, (text) => {
        const lower = text.toLowerCase()
        const expected = countMembers(lower) !== countMembers(JSON.stringify(JSON.parse(lower)))
        seen.all += 1
        if (expected) seen.repeated += 1
        expect(hasAmbiguousName(text)).toBe(expected)
      }),
      { numRuns: 5_000 },
    )
    expect(seen.repeated).toBeGreaterThan(500)
  })

  test('takes linear time and no stack', () => {
    const deep = 1_000_000
    const check = (): void => {
      expect(hasAmbiguousName('{"a":'.repeat(deep) + '1' + '}'.repeat(deep))).toBe(false)
      expect(hasAmbiguousName(`{"a":"${'\\\\\\"'.repeat(deep)}","a":1}`)).toBe(true)
    }
    expect(cpuMs(check)).toBeLessThan(5_000)
  })
})
