import { isUtf8 } from 'node:buffer'
import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { createJsonScanner, isJson } from './createJsonScanner.ts'

/** For 100,000 cases on a busy machine. */
const fuzzTimeoutMs = 300_000

/** RFC 8259 as implemented by Node. */
const oracle = (bytes: Buffer): boolean => {
  if (!isUtf8(bytes)) return false
  try {
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}

/** Scans in chunks of these sizes. The last chunk has the rest. */
const scanned = (bytes: Buffer, sizes: readonly number[]): boolean => {
  const scanner = createJsonScanner()
  let from = 0
  for (const size of sizes) {
    if (!scanner.push(bytes.subarray(from, from + size))) return false
    from += size
  }
  return scanner.push(bytes.subarray(Math.min(from, bytes.length))) && scanner.end()
}

const fragments = [
  ...Array.from('{}[]:,"0123456789-+.eE \t\n\r/\\uabfnrt'),
  '"a"',
  '"id":',
  'true',
  'false',
  'null',
  'nul',
  'truee',
  '1.5e-7',
  '-0',
  '01',
  '\\u00e9',
  '\\ud800',
  '\\x',
  'é',
  '😀',
  '\u{feff}',
  '\u00a0',
  '\u0000',
  '\u001f',
  '\u007f',
]
const hostileBytes = [0xc0, 0xc1, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf]

const valid = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), fc.constantFrom('', ' ', '\n\t'))
  .map(([text, indent, space]) => Buffer.from(`${space}${JSON.stringify(JSON.parse(text), null, indent)}${space}`))
/** A JSON text with a few bytes changed, removed or inserted: near misses. */
const nearlyValid = fc
  .tuple(
    valid,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2), fc.constantFrom(...fragments)), {
      minLength: 1,
      maxLength: 2,
    }),
  )
  .map(([bytes, changes]) => {
    let changed = bytes
    for (const [place, drop, put] of changes) {
      const at = place % (changed.length + 1)
      changed = Buffer.concat([changed.subarray(0, at), Buffer.from(put), changed.subarray(at + drop)])
    }
    return changed
  })
const malformed = fc.oneof(
  fc.array(fc.constantFrom(...fragments), { maxLength: 14 }).map((parts) => Buffer.from(parts.join(''))),
  fc
    .array(fc.constantFrom(...hostileBytes), { maxLength: 5 })
    .map((bytes) => Buffer.concat([Buffer.from('["'), Buffer.from(bytes), Buffer.from('"]')])),
)
const cases = fc.oneof(
  { weight: 30, arbitrary: valid },
  { weight: 40, arbitrary: nearlyValid },
  { weight: 30, arbitrary: malformed },
)

describe('the scanner', () => {
  test('accepts exactly what JSON.parse accepts, in chunks of any size', { timeout: fuzzTimeoutMs }, () => {
    const seen = { accepted: 0, rejected: 0 }
    fc.assert(
      fc.property(cases, fc.array(fc.nat({ max: 7 }), { maxLength: 6 }), (bytes, sizes) => {
        const expected = oracle(bytes)
        seen[expected ? 'accepted' : 'rejected'] += 1
        expect(isJson(bytes)).toBe(expected)
        expect(scanned(bytes, sizes)).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
    // If most cases were rejected, a scanner that rejects everything would pass.
    expect(seen.accepted / (seen.accepted + seen.rejected)).toBeGreaterThan(0.25)
    expect(seen.rejected / (seen.accepted + seen.rejected)).toBeGreaterThan(0.25)
  })

  test('reports the members of the outermost object, in chunks of any size', () => {
    const names = fc.constantFrom('id', 'result', 'error', 'é', 'a"b', 'x'.repeat(70))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(names, fc.json()), { maxLength: 5 }),
        fc.boolean(),
        fc.array(fc.nat({ max: 9 }), { maxLength: 9 }),
        (members, escaped, sizes) => {
          const spelled = (name: string): string =>
            escaped && name === 'id' ? String.raw`"\u0069d"` : JSON.stringify(name)
          const text = `{ ${members.map(([name, value]) => `${spelled(name)} : ${value}`).join(' ,')} }`
          const bytes = Buffer.from(text)
          const found: [string | undefined, string][] = []
          let current: string | undefined
          let from = 0
          const scanner = createJsonScanner({
            name: (name) => (current = name),
            start: (offset) => (from = offset),
            end: (offset) => found.push([current, bytes.toString('utf8', from, offset)]),
          })
          let at = 0
          for (const size of [...sizes, bytes.length]) {
            expect(scanner.push(bytes.subarray(at, at + size))).toBe(true)
            at += size
          }
          expect(scanner.end()).toBe(true)
          const ascii = (name: string): string | undefined =>
            name.length > 64 ? undefined : name === 'é' ? Buffer.from('é').toString('latin1') : name
          expect(found).toEqual(members.map(([name, value]) => [ascii(name), value]))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['an empty text', ''],
    ['only white space', ' \n'],
    ['a byte order mark', '\u{feff}1'],
    ['a no-break space', '\u00a01'],
    ['two values', '1 2'],
    ['an object closed as an array', '{"a":[1}]'],
    ['an open string', '"a'],
    ['a comma before the end', '[1,]'],
  ])('rejects %s', (_, text) => {
    expect(isJson(Buffer.from(text))).toBe(false)
  })

  test('reads a million levels and a string of four megabytes quickly', () => {
    const scan = (): void => {
      expect(isJson(Buffer.from('['.repeat(1_000_000) + ']'.repeat(1_000_000)))).toBe(true)
      expect(isJson(Buffer.from(`["${'a'.repeat(4_000_000)}"]`))).toBe(true)
    }
    expect(cpuMs(scan)).toBeLessThan(2_000)
  })
})
