import { expect, test } from 'vitest'
import type { Access } from '../storage/access.ts'
import { toKeyLimits } from './fromConfig.ts'
import { resolveNetworkLimits } from './networkLimits.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'

const node = { chainId: 1, upstreams: [{ url: 'http://10.0.0.5:8545' }] }
const config = parseServiceConfig({
  publicUrl: 'https://rpc.example.org',
  limits: { apps: { perSecond: 100, burst: 200 }, weights: { eth_getLogs: 75, eth_call: 5 } },
  networks: {
    plain: node,
    'app-rates': { ...node, limits: { apps: { perSecond: 10 } } },
    'key-rates': { ...node, limits: { apiKeys: { perSecond: null, burst: 80 } } },
    weights: { ...node, limits: { weights: { eth_getLogs: 150, eth_call: 1 } } },
  },
})
const byNetwork = resolveNetworkLimits(config)

test('a network has its own limits, and the others are those of the config', () => {
  const { apps, apiKeys, weights } = config.limits
  expect(byNetwork).toEqual({
    'app-rates': { apps: { ...apps, perSecond: 10 }, apiKeys, weights, ownRates: { apps: true, apiKeys: false } },
    'key-rates': {
      apps,
      apiKeys: { ...apiKeys, perSecond: null, burst: 80 },
      weights,
      ownRates: { apps: false, apiKeys: true },
    },
    weights: {
      apps,
      apiKeys,
      weights: { eth_getLogs: 150, eth_call: 1 },
      ownRates: { apps: false, apiKeys: false },
    },
  })
})

const user: Access['user'] = { id: 'usr_1', state: 'active', limits: null, quotaOwner: 'usr_1' }
const app: NonNullable<Access['app']> = {
  id: 'app_1',
  services: ['Node API'],
  requireJwt: false,
  jwtAudience: null,
  jwtMaxLifetimeS: null,
  limits: null,
  allow: [],
  jwtKeys: [],
}
const getRates = (change: Partial<Pick<Access, 'app' | 'user' | 'networks'>>) => {
  const networks = ['plain', 'app-rates', 'key-rates', 'weights']
  const access = { keyId: 'key_1', kind: 'app', version: 0, keyState: 'active', old: false, endsAt: null } as const
  return toKeyLimits(config, byNetwork, { ...access, app, user, networks, ...change })
}

test("a key has the rates of its networks that have their own for its kind, and the config's quota", () => {
  expect(getRates({})).toEqual({ ...config.limits.apps, networks: { 'app-rates': { perSecond: 10, burst: 200 } } })
  expect(getRates({ app: null })).toEqual({
    ...config.limits.apiKeys,
    networks: { 'key-rates': { perSecond: null, burst: 80 } },
  })
  expect(getRates({ networks: ['plain', 'weights', 'removed'] })).toEqual(config.limits.apps)
})

test.each<[string, Partial<Pick<Access, 'app' | 'user'>>, number, number]>([
  ['an app narrows both', { app: { ...app, limits: { perSecond: 5 } } }, 5, 5],
  ['an app widens neither', { app: { ...app, limits: { perSecond: 50 } } }, 50, 10],
  ['a user has the same on all networks', { user: { ...user, limits: { perSecond: 30 } } }, 30, 30],
  [
    'an app narrows what its user has',
    { user: { ...user, limits: { perSecond: 30 } }, app: { ...app, limits: { perSecond: 20 } } },
    20,
    20,
  ],
])('%s', (_, change, general, onNetwork) => {
  const { perSecond, networks } = getRates(change)
  expect([perSecond, networks?.['app-rates']]).toEqual([general, { perSecond: onNetwork, burst: 200 }])
})
