import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { knownChains, knownNetworks } from '../packages/gateway/src/lib/knownNetworks.ts'
import networkNames from '../packages/viem/src/networkNames.json' with { type: 'json' }
import { buildKnownNetworks, buildNetworkNames } from '../scripts/knownNetworks.ts'

const networks = Object.entries(knownNetworks)
const slugs = networks.map(([slug]) => slug)
const aliases = networks.flatMap(([, network]) => network.aliases)

test('the list of known networks is up to date (if not, run `npm run networks`)', () => {
  expect({ chains: knownChains, networks: knownNetworks }).toEqual(JSON.parse(JSON.stringify(buildKnownNetworks())))
})

test('the viem adapter has the name of each known network by its chain id (if not, run `npm run networks`)', () => {
  expect(networkNames).toEqual(buildNetworkNames())
  expect(Object.keys(networkNames)).toHaveLength(networks.length)
})

test('at least 60 main networks are known, and also Sepolia, Hoodi, Base and Arbitrum', () => {
  expect(networks.filter(([, { testnet }]) => !testnet).length).toBeGreaterThanOrEqual(60)
  for (const [slug, chainId] of [
    ['ethereum-mainnet', 1],
    ['ethereum-sepolia', 11155111],
    ['ethereum-hoodi', 560048],
    ['base-mainnet', 8453],
    ['arbitrum-one', 42161],
  ] as const)
    expect(knownNetworks[slug]?.chainId, slug).toBe(chainId)
})

test('the docs say how many chains are known', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/service/networks.md'), 'utf8')
  expect(page).toContain(`knows the ${Object.keys(knownChains).length} most used EVM chains`)
})

test('every slug, alias and chain id belongs to one network', () => {
  const names = [...slugs, ...aliases]
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  const chainIds = networks.map(([, { chainId }]) => chainId)
  expect(chainIds.filter((chainId, index) => chainIds.indexOf(chainId) !== index)).toEqual([])
})

test('every slug and alias can be a URL segment, and none is a path or a default network of the service', () => {
  for (const name of [...slugs, ...aliases]) {
    expect(name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
    expect(['api', 'assets', 'healthz', 'metrics', 'readyz', 'v2', 'mainnet', 'testnet']).not.toContain(name)
  }
})

test.each(networks)('%s has valid properties', (slug, { chain, title, chainId, symbol, testnet, explorerUrl }) => {
  const name = slug.slice(chain.length + 1)
  expect(slug).toBe(`${chain}-${name}`)
  expect(title.toLowerCase()).toBe(`${knownChains[chain]?.title} ${name}`.toLowerCase())
  expect(Number.isSafeInteger(chainId) && chainId > 0).toBe(true)
  expect(symbol).toMatch(/^[\w.-]{1,12}$/)
  // viem does not mark all testnets.
  expect(testnet).toBe(!['mainnet', 'one', 'nova'].includes(name))
  if (explorerUrl) expect(explorerUrl).toMatch(/^https:[/][/][^/].*[^/]$/)
})

test('every known chain has a network', () => {
  expect(Object.keys(knownChains)).toEqual([...new Set(networks.map(([, { chain }]) => chain))])
})
