import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseIpRange } from '../lib/ip/ipRange.ts'
import { parseOriginRule } from '../auth/allowList/originRule.ts'
import { normalizeAllowValue } from './normalizeAllowValue.ts'

const rule = (type: Parameters<typeof normalizeAllowValue>[0], text: string): string | undefined => {
  const reading = normalizeAllowValue(type, text)
  return 'rule' in reading ? reading.rule : undefined
}

describe('normalizeAllowValue', () => {
  test('normalizes every spelling of an entry to one form', () => {
    for (const [type, normalized, ...spellings] of [
      ['origin', 'https://a.example', 'HTTPS://A.example', 'https://a.example:443', 'https://a.example'],
      ['origin', 'a.example:8443', 'A.EXAMPLE:8443'],
      ['origin', '*.xn--bcher-kva.example', '*.bücher.example', '*.xn--bcher-kva.example'],
      ['origin', 'http://[::1]:3000', 'http://[0:0:0:0:0:0:0:1]:3000'],
      ['origin', 'chrome-extension://abcdef', 'chrome-extension://abcdef'],
      ['ip', '::/0', '::/0', '0:0:0:0:0:0:0:0/0'],
      ['ip', '0.0.0.0/0', '0.0.0.0/0', '::ffff:0.0.0.0/96'],
      ['ip', '2001:db8::', '2001:DB8::/128', '2001:db8:0:0:0:0:0:0'],
      ['ip', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ] as const)
      for (const spelling of spellings) expect(rule(type, spelling)).toBe(normalized)
  })

  test('preserves the meaning, and normalizing twice changes nothing', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6())
    const range = fc.tuple(address, fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`)
    let read = 0
    fc.assert(
      fc.property(fc.oneof(address, range), (text) => {
        const normalized = rule('ip', text)
        expect(normalized === undefined).toBe('fix' in parseIpRange(text))
        if (normalized === undefined) return
        read += 1
        expect(parseIpRange(normalized)).toEqual(parseIpRange(text))
        expect(rule('ip', normalized)).toBe(normalized)
      }),
      { numRuns: 2_000 },
    )
    expect(read).toBeGreaterThan(500)
    const scheme = fc.constantFrom('', 'http://', 'https://', 'HTTPS://', 'app://')
    const port = fc.constantFrom('', ':80', ':443', ':8080')
    const origin = fc
      .tuple(scheme, fc.constantFrom('', '*.'), fc.oneof(fc.domain(), fc.ipV4()), port)
      .map((parts) => parts.join(''))
    read = 0
    fc.assert(
      fc.property(origin, (text) => {
        const normalized = rule('origin', text)
        expect(normalized === undefined).toBe('fix' in parseOriginRule(text))
        if (normalized === undefined) return
        read += 1
        expect(parseOriginRule(normalized)).toEqual(parseOriginRule(text))
        expect(rule('origin', normalized)).toBe(normalized)
      }),
      { numRuns: 2_000 },
    )
    expect(read).toBeGreaterThan(500)
  })
})
