import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getApiKeyUrl, getAppUrl } from './rpcUrls.ts'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { parsePath as parse } from './parsePath.ts'
import type { Path } from './parsePath.ts'

const key = fc.stringMatching(/^[0-9A-Za-z_%.~-]{1,50}$/).filter((text) => text !== 'v2')
const network = fc.constantFrom('testnet', 'mainnet')
const names = {
  byName: new Map([
    ['testnet', 'testnet'],
    ['mainnet', 'mainnet'],
    ['sepolia', 'testnet'],
  ]),
  hostSuffix: undefined,
}
const parsePath = (target: string): Path => parse(target, names)

describe('parsePath', () => {
  test('parses the RPC URLs, with or without a query', () => {
    fc.assert(
      fc.property(network, key, fc.webQueryParameters(), (name, text, query) => {
        for (const end of ['', `?${query}`]) {
          const app = new URL(getAppUrl('https://x.example/', name, text))
          const api = new URL(getApiKeyUrl('https://x.example', name, text))
          fc.pre(app.pathname === `/${name}/v2/${text}` && api.pathname === `/${name}/${text}`)
          expect(parsePath(app.pathname + end)).toEqual({ kind: 'call', network: name, variant: 'app', key: text })
          expect(parsePath(api.pathname + end)).toEqual({ kind: 'call', network: name, variant: 'apiKey', key: text })
          expect(parsePath(app.href + end)).toEqual(parsePath(app.pathname))
        }
      }),
    )
  })

  test('an app path without a key is for tokens', () => {
    const tokenPath = { kind: 'call', network: 'testnet', variant: 'app', key: undefined }
    expect([parsePath('/testnet/v2'), parsePath('/testnet/v2?a=b')]).toEqual([tokenPath, tokenPath])
    expect(parsePath('/testnet/v2/')).toEqual({ ...tokenPath, key: '' })
  })

  test.each([
    '',
    '*',
    '/',
    '//',
    '/testnet//x',
    '/testnet/v2/x/',
    '/testnet/v3/x',
    '/other/x',
    '/testnet /x',
    '/healthz/',
    '/api',
    'testnet/x',
  ])('does not know the target %s', (target) => {
    expect(parsePath(target)).toEqual({ kind: 'unknown' })
  })

  test('an alias means its network', () => {
    expect(parsePath('/sepolia/v2/x')).toEqual({ kind: 'call', network: 'testnet', variant: 'app', key: 'x' })
  })

  test.each(['/other/v2/x', '/other/v2', '/other/kr_t1'])('names the unknown network of %s', (target) => {
    expect(parsePath(target)).toEqual({ kind: 'unknown', network: 'other' })
  })

  test.each(['/Other/v2/x', '/api/v2/x', '/v2/kr_t1'])('%s names no network', (target) => {
    expect(parsePath(target)).toEqual({ kind: 'unknown' })
  })

  test.each([
    ['testnet.rpc.example.org', '/v2/x', { network: 'testnet', variant: 'app', key: 'x' }],
    ['Sepolia.RPC.example.org:8443', '/x', { network: 'testnet', variant: 'apiKey', key: 'x' }],
    ['mainnet.rpc.example.org', '/v2', { network: 'mainnet', variant: 'app', key: undefined }],
    ['rpc.example.org', '/mainnet/x', { network: 'mainnet', variant: 'apiKey', key: 'x' }],
    ['other.rpc.example.org', '/mainnet/x', { network: 'mainnet', variant: 'apiKey', key: 'x' }],
  ] as const)('at the host %s, %s is a call', (host, target, call) => {
    const hosts = { ...names, hostSuffix: '.rpc.example.org' }
    expect(parse(target, hosts, host)).toEqual({ kind: 'call', ...call })
    expect(parse('/readyz', hosts, host)).toEqual({ kind: 'readyz' })
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (target) => {
        expect(['call', 'healthz', 'readyz', 'unknown']).toContain(parsePath(target).kind)
      }),
    )
  })

  test('agrees with a second implementation about any target', () => {
    const part = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('testnet', 'mainnet', 'v2', 'healthz', '') },
      { weight: 3, arbitrary: key },
      { weight: 2, arbitrary: fc.stringMatching(/^[ -~]{0,8}$/) },
    )
    const good = fc
      .tuple(network, fc.constantFrom('/v2/', '/', '/v2'), key)
      .map(([name, between, text]) => `/${name}${between}${between === '/v2' ? '' : text}`)
    const any = fc
      .tuple(fc.constantFrom('', 'http://x', 'HTTPS://x.example:1', 'x'), fc.array(part, { maxLength: 5 }))
      .map(([before, parts]) => before + parts.map((text) => `/${text}`).join(''))
    const target = fc
      .tuple(
        fc.oneof({ weight: 3, arbitrary: good }, { weight: 7, arbitrary: any }),
        fc.constantFrom('', '?', '?a/b', '#c'),
      )
      .map((both) => both.join(''))
    const oracle = (text: string): Path => {
      const [, path = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(text) ?? []
      if (path === '/healthz' || path === '/readyz') return { kind: path === '/healthz' ? 'healthz' : 'readyz' }
      const [whole, name, app, alone, api] = /^\/(testnet|mainnet)(?:\/v2\/([^/]*)|(\/v2)|\/([^/]*)|)$/.exec(path) ?? []
      const [, other] = /^\/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\/(?:v2(?:\/|$)|kr_)/.exec(path) ?? []
      const isName = other !== undefined && !['v2', 'healthz', 'testnet', 'mainnet', 'sepolia'].includes(other)
      if (whole === undefined) return { kind: 'unknown', ...(isName ? { network: other } : {}) }
      const at = { kind: 'call', network: name === 'testnet' ? 'testnet' : 'mainnet' } as const
      if (app !== undefined) return { ...at, variant: 'app', key: app }
      return alone === undefined
        ? { ...at, variant: 'apiKey', key: api ?? '' }
        : { ...at, variant: 'app', key: undefined }
    }
    let calls = 0
    fc.assert(
      fc.property(target, (text) => {
        const parsed = parsePath(text)
        if (parsed.kind === 'call') calls += 1
        // A similar name is not part of what both have to agree on.
        expect('nearest' in parsed ? { ...parsed, nearest: undefined } : parsed).toEqual(oracle(text))
      }),
      { numRuns: fuzzCases(1_000) },
    )
    // About 0.33, of targets that are chosen at random.
    expect(calls).toBeGreaterThan(fuzzCases(1_000) * 0.25)
  })
})
