import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { matchesOrigin, parseOrigin, readOriginRule } from './originRule.ts'

const allows = (entry: string, header: string): boolean => {
  const reading = readOriginRule(entry)
  if ('fix' in reading) throw new Error(`${entry} ${reading.fix}`)
  const origin = parseOrigin(header)
  return origin !== undefined && matchesOrigin(reading.rule, origin)
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
    ['', /is no origin/],
    ['*', /leave the list empty/],
    ['null', /name the origins themselves/],
    ['https://', /is no origin/],
    ['https://example.com/', /leave away/],
    ['https://example.com/app?x=1', /leave away/],
    ['https://*', /only at the beginning/],
    ['a.*.example.com', /only at the beginning/],
    ['*example.com', /only at the beginning/],
    ['*.*.example.com', /only at the beginning/],
    ['*.127.0.0.1', /domain name/],
    ['*.[::1]', /domain name/],
    ['chrome-extension://*.abc', /domain name/],
    ['example.com:', /no good port/],
    ['example.com:0', /no good port/],
    ['example.com:65536', /no good port/],
    ['example.com:*', /only at the beginning/],
    ['user:pass@example.com', /is no origin/],
    ['user@example.com', /is no origin/],
    ['1:2:3', /is no origin/],
    ['[::1]:80:90', /is no origin/],
    ['a..example.com', /is no origin/],
    ['exa mple.com', /is no origin/],
    ['example.com ', /is no origin/],
    ['exam\tple.com', /is no origin/],
    ['ex%61mple.com', /is no origin/],
  ])('rejects %s', (entry, fix) => {
    expect(readOriginRule(entry)).toEqual({ fix: expect.stringMatching(fix) })
  })

  test('a text of any length is rejected in no time', () => {
    const reject = (): void => {
      expect(allows('example.com', `https://${'a.'.repeat(5_000_000)}com`)).toBe(false)
      expect(readOriginRule(`${'a.'.repeat(5_000_000)}com`)).toHaveProperty('fix')
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
  /** An entry, and a header: one of it, one like it, or rubbish. */
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

  /** What a URL's parser says: of the header, and of the entry where it has a scheme. */
  const allowedByUrls = (text: string, header: string): boolean => {
    const url = URL.parse(header)
    // Browsers send the serialization, at most with the scheme's own port; whatever else a parser may make of a text is no Origin.
    const written = url === null ? '' : `${url.protocol}//${url.host}`
    const own = url?.protocol === 'https:' ? ':443' : ':80'
    if (url === null || (header !== written && !(url.port === '' && header === written + own))) return false
    // A name that is empty passes in a URL, and is no name of a host.
    if (/^\.|\.\./.test(url.hostname) || !/^[a-z0-9_.:[\]-]+$/.test(url.hostname)) return false
    const given = text.includes('://') ? text : `${url.protocol}//${text}`
    const rule = URL.parse(given.replace('*.', 'placeholder.'))
    if (rule?.protocol !== url.protocol || rule.port !== url.port) return false
    if (!text.includes('*.')) return rule.hostname === url.hostname
    const names = url.hostname.split('.')
    const wanted = rule.hostname.split('.').slice(1)
    return names.length > wanted.length && names.slice(-wanted.length).join('.') === wanted.join('.')
  }

  test('allows exactly the origins that a URL parser takes for the same', () => {
    fc.assert(
      fc.property(cases, ([text, header]) => {
        const expected = allowedByUrls(text, header)
        expect(allows(text, header)).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })

  test('an entry that is taken is a host that a URL parser knows, and never one with more to it', () => {
    fc.assert(
      fc.property(fc.tuple(fc.option(scheme), bad, host, bad, port, bad), ([s, b1, h, b2, p, b3]) => {
        const text = `${s === null ? '' : `${s}://`}${b1}${h}${b2}${p}${b3}`
        const reading = readOriginRule(text)
        if ('fix' in reading) return
        const url = URL.parse(`${s ?? 'http'}://${text.slice(s === null ? 0 : s.length + 3).replace('*.', '')}`)
        expect(url?.hostname).toBe(reading.rule.host)
        expect([url?.username, url?.pathname, url?.search, url?.hash]).toEqual(['', '/', '', ''])
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })
})
