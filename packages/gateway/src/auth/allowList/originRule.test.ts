import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { matchesOrigin, parseOrigin, parseOriginRule } from './originRule.ts'

const allows = (entry: string, header: string): boolean => {
  const parsed = parseOriginRule(entry)
  if ('fix' in parsed) throw new Error(`${entry} ${parsed.fix}`)
  const origin = parseOrigin(header)
  return origin !== undefined && matchesOrigin(parsed.rule, origin)
}

describe('an entry of the origin list', () => {
  test.each([
    ['https://example.com', 'https://example.com', true],
    ['https://example.com', 'http://example.com', false],
    ['https://example.com', 'https://example.com:443', true],
    ['https://example.com:443', 'https://example.com', true],
    ['https://example.com', 'https://example.com:8443', false],
    ['https://example.com:8443', 'https://example.com:8443', true],
    ['https://example.com:8443', 'https://example.com', false],
    ['https://example.com:80', 'http://example.com', false],
    ['example.com', 'https://example.com', true],
    ['example.com', 'http://example.com', true],
    ['example.com', 'http://example.com:443', false],
    ['example.com:443', 'https://example.com', true],
    ['localhost:3000', 'http://localhost:3000', true],
    ['localhost', 'http://localhost:3000', false],
    ['example.com', 'https://www.example.com', false],
    ['example.com', 'https://example.com.evil.example', false],
    ['example.com', 'https://notexample.com', false],
    ['example.com', 'https://examplexcom', false],
    ['example.com', 'https://example.com.', false],
    ['*.example.com', 'https://www.example.com', true],
    ['*.example.com', 'https://a.b.example.com', true],
    ['*.example.com', 'https://example.com', false],
    ['*.example.com', 'https://notexample.com', false],
    ['*.example.com', 'https://.example.com', false],
    ['*.example.com', 'https://www.example.com.evil.example', false],
    ['*.example.com', 'https://www.example.com:8443', false],
    ['http://*.localhost:5173', 'http://app.localhost:5173', true],
    ['*.app2', 'https://x.app2', true],
    ['EXAMPLE.com', 'https://Example.COM', true],
    ['https://bücher.example', 'https://xn--bcher-kva.example', true],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example', true],
    ['127.1', 'http://127.0.0.1', true],
    ['http://[0:0::1]:3000', 'http://[::1]:3000', true],
    ['[::1]', 'http://[::1]', true],
    ['chrome-extension://abcdefghijklmnop', 'chrome-extension://abcdefghijklmnop', true],
    ['abcdefghijklmnop', 'chrome-extension://abcdefghijklmnop', false],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['capacitor://localhost', 'https://localhost', false],
    ['example.com', 'null', false],
    ['example.com', '', false],
    ['example.com', 'example.com', false],
    ['example.com', 'https://example.com/', false],
    ['example.com', 'https://example.com, https://evil.example', false],
    ['example.com', 'https://evil.example@example.com', false],
    ['example.com', 'https://example.com#@evil.example', false],
    ['example.com', String.raw`https:\\example.com`, false],
    ['example.com', 'https://ex%61mple.com', false],
    ['example.com', 'https://exam\tple.com', false],
    ['example.com', ' https://example.com', false],
    ['example.com', 'https://example.com:0443', false],
    ['example.com', 'https://example.com:65979', false],
  ])('%s with an Origin of %s: %s', (entry, header, expected) => {
    expect(allows(entry, header)).toBe(expected)
  })

  test.each([
    ['', /is not an origin/],
    ['*', /leave the list empty/],
    ['null', /list the origins themselves/],
    ['https://', /is not an origin/],
    ['https://example.com/', /remove everything after/],
    ['https://example.com/app?x=1', /remove everything after/],
    ['https://*', /only at the start/],
    ['a.*.example.com', /only at the start/],
    ['*example.com', /only at the start/],
    ['*.*.example.com', /only at the start/],
    ['*.127.0.0.1', /domain name/],
    ['*.[::1]', /domain name/],
    ['chrome-extension://*.abc', /domain name/],
    ['example.com:', /invalid port/],
    ['example.com:0', /invalid port/],
    ['example.com:65536', /invalid port/],
    ['example.com:*', /only at the start/],
    ['user:pass@example.com', /is not an origin/],
    ['user@example.com', /is not an origin/],
    ['1:2:3', /is not an origin/],
    ['[::1]:80:90', /is not an origin/],
    ['a..example.com', /is not an origin/],
    ['exa mple.com', /is not an origin/],
    ['example.com ', /is not an origin/],
    ['exam\tple.com', /is not an origin/],
    ['ex%61mple.com', /is not an origin/],
  ])('rejects %s', (entry, fix) => {
    expect(parseOriginRule(entry)).toEqual({ fix: expect.stringMatching(fix) })
  })

  test('rejects very long texts quickly', () => {
    const reject = (): void => {
      expect(allows('example.com', `https://${'a.'.repeat(5_000_000)}com`)).toBe(false)
      expect(parseOriginRule(`${'a.'.repeat(5_000_000)}com`)).toHaveProperty('fix')
    }
    expect(cpuMs(reject)).toBeLessThan(1_000)
  })

  const label = fc.constantFrom('example', 'app', 'a', 'xn--bcher-kva', 'x_y', 'a-b', '3', 'com', 'evil')
  const domain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.com`)
  const host = fc.oneof(domain, fc.constantFrom('localhost', '127.0.0.1', '[::1]', '[2001:db8::1]'))
  const scheme = fc.constantFrom('http', 'https')
  const port = fc.constantFrom('', '', ':80', ':443', ':3000')
  const bad = fc.constantFrom(
    '',
    '.',
    '..',
    '/',
    '@evil.com',
    '%2e',
    '\t',
    ' ',
    ',',
    '#',
    '?',
    ':',
    '\\',
    '*',
    'é',
    '\0',
    '.evil.com',
  )
  const entry = fc
    .tuple(fc.option(scheme), fc.boolean(), domain, host, port)
    .map(
      ([given, below, name, other, at]) => `${given === null ? '' : `${given}://`}${below ? `*.${name}` : other}${at}`,
    )
  /** An entry and a header: one that it allows, a similar one, or an invalid one. */
  const cases = entry.chain((text) => {
    const [, name = '', at = ''] = /^(?:https?:\/\/)?(.*?)(:[0-9]+)?$/.exec(text) ?? []
    const near = name.startsWith('*.') ? label.map((first) => `${first}${name.slice(1)}`) : fc.constant(name)
    const header = fc.oneof(
      {
        weight: 45,
        arbitrary: fc
          .tuple(scheme, near)
          .map(([s, h]) => `${text.includes('://') ? text.split('://')[0] : s}://${h}${at}`),
      },
      { weight: 20, arbitrary: fc.tuple(scheme, fc.oneof(near, host), port).map(([s, h, p]) => `${s}://${h}${p}`) },
      {
        weight: 35,
        arbitrary: fc
          .tuple(scheme, bad, fc.oneof(near, host), bad, port, bad)
          .map(([s, b1, h, b2, p, b3]) => `${s}://${b1}${h}${b2}${p}${b3}`),
      },
    )
    return fc.tuple(fc.constant(text), header)
  })

  /** Compares the header and the entry with a URL parser. */
  const allowedByUrls = (text: string, header: string): boolean => {
    const url = URL.parse(header)
    // Browsers send the serialization, at most with the default port. Other texts that a URL parser accepts are not origins.
    const serialized = url === null ? '' : `${url.protocol}//${url.host}`
    const defaultPort = url?.protocol === 'https:' ? ':443' : ':80'
    if (url === null || (header !== serialized && !(url.port === '' && header === serialized + defaultPort)))
      return false
    // URLs accept empty labels, hosts do not.
    if (/^\.|\.\./.test(url.hostname) || !/^[a-z0-9_.:[\]-]+$/.test(url.hostname)) return false
    const given = text.includes('://') ? text : `${url.protocol}//${text}`
    const rule = URL.parse(given.replace('*.', 'placeholder.'))
    if (rule?.protocol !== url.protocol || rule.port !== url.port) return false
    if (!text.includes('*.')) return rule.hostname === url.hostname
    const names = url.hostname.split('.')
    const wanted = rule.hostname.split('.').slice(1)
    return names.length > wanted.length && names.slice(-wanted.length).join('.') === wanted.join('.')
  }

  test('allows exactly the origins that are equal for a URL parser', () => {
    fc.assert(
      fc.property(cases, ([text, header]) => {
        const expected = allowedByUrls(text, header)
        expect(allows(text, header)).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })

  test('an accepted entry is a host for a URL parser, without further URL parts', () => {
    fc.assert(
      fc.property(fc.tuple(fc.option(scheme), bad, host, bad, port, bad), ([s, b1, h, b2, p, b3]) => {
        const text = `${s === null ? '' : `${s}://`}${b1}${h}${b2}${p}${b3}`
        const parsed = parseOriginRule(text)
        if ('fix' in parsed) return
        const url = URL.parse(`${s ?? 'http'}://${text.slice(s === null ? 0 : s.length + 3).replace('*.', '')}`)
        expect(url?.hostname).toBe(parsed.rule.host)
        expect([url?.username, url?.pathname, url?.search, url?.hash]).toEqual(['', '/', '', ''])
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })
})
