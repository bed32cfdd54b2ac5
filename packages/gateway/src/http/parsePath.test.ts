import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apiKeyAddress, appAddress } from './addresses.ts'
import { parsePath } from './parsePath.ts'

const key = fc.stringMatching(/^[0-9A-Za-z_%.~-]{1,50}$/).filter((text) => text !== 'v2')
const network = fc.constantFrom('testnet', 'mainnet')

describe('parsePath', () => {
  test('reads back what the addresses are made of, with or without a query', () => {
    fc.assert(
      fc.property(network, key, fc.webQueryParameters(), (name, text, query) => {
        for (const end of ['', `?${query}`]) {
          const app = new URL(appAddress('https://x.example/', name, text))
          const api = new URL(apiKeyAddress('https://x.example', name, text))
          fc.pre(app.pathname === `/${name}/v2/${text}` && api.pathname === `/${name}/${text}`)
          expect(parsePath(app.pathname + end)).toEqual({ kind: 'call', network: name, variant: 'app', key: text })
          expect(parsePath(api.pathname + end)).toEqual({ kind: 'call', network: name, variant: 'apiKey', key: text })
          expect(parsePath(app.href + end)).toEqual(parsePath(app.pathname))
        }
      }),
    )
  })

  test('a path of apps without a key is for tokens alone', () => {
    const alone = { kind: 'call', network: 'testnet', variant: 'app', key: undefined }
    expect([parsePath('/testnet/v2'), parsePath('/testnet/v2?a=b')]).toEqual([alone, alone])
    expect(parsePath('/testnet/v2/')).toEqual({ ...alone, key: '' })
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
  ])('knows no %s', (target) => {
    expect(parsePath(target)).toEqual({ kind: 'unknown' })
  })

  test('any target is taken without a throw', () => {
    fc.assert(
      fc.property(fc.string(), (target) => {
        expect(['call', 'healthz', 'readyz', 'unknown']).toContain(parsePath(target).kind)
      }),
    )
  })
})
