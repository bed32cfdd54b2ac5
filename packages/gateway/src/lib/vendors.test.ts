import { expect, test } from 'vitest'
import { knownNetworks } from './knownNetworks.ts'
import { methods } from './methods.ts'
import { getVendorLogBlocks, getVendorNetwork, isVendorNetwork, toVendorUrl, vendors } from './vendors.ts'

const chainIds = new Set(Object.values(knownNetworks).map(({ chainId }) => chainId))
const all = Object.entries(vendors)

test.each(all)('the row of %s is complete, and from public documentation of a day', (name, vendor) => {
  expect(name).toMatch(/^[a-z][a-z0-9-]*$/)
  expect(vendor.title.toLowerCase()).toBe(name)
  expect(new Date(vendor.date).toISOString()).toBe(`${vendor.date}T00:00:00.000Z`)
  expect(vendor.sources.length).toBeGreaterThan(0)
  for (const source of vendor.sources) expect(URL.parse(source)?.protocol, source).toBe('https:')
})

test.each(all)('the URL of %s has the network, and the key in its path or query', (_name, vendor) => {
  expect(vendor.url.split('{network}')).toHaveLength(2)
  expect(vendor.url.includes('{key}')).toBe(vendor.keyless !== true)
  for (const chainId of [1, 8453]) {
    const network = getVendorNetwork(vendor, chainId)
    if (network === undefined) continue
    const url = new URL(toVendorUrl(vendor, network, 'a/key&more'))
    expect(url.protocol).toBe('https:')
    expect(url.host).not.toContain('key')
    if (vendor.keyless !== true) expect(`${url.pathname}${url.search}`).toContain('a%2Fkey%26more')
    expect(url.href).not.toMatch(/[{}]/)
  }
})

test.each(all)('the networks of %s are well-known, and have each name once', (_name, { networks = {} }) => {
  for (const [chainId, network] of Object.entries(networks)) {
    expect(chainIds.has(Number(chainId)), chainId).toBe(true)
    // The host or the path of a URL.
    expect(network).toMatch(/^[a-z0-9]+(?:[-._][a-z0-9]+)*$/)
  }
  expect(new Set(Object.values(networks)).size).toBe(Object.keys(networks).length)
})

test.each(all)('the weights and ranges of %s are of methods and chains that there are', (_name, vendor) => {
  const { weights = {}, logBlocks = {}, networks = {} } = vendor
  for (const [method, units] of Object.entries(weights)) {
    expect(method === '*' || methods.has(method), method).toBe(true)
    expect(Number.isSafeInteger(units) && units >= 0, method).toBe(true)
  }
  for (const [chainId, blocks] of Object.entries(logBlocks)) {
    expect(chainId === '*' || Object.hasOwn(networks, chainId), chainId).toBe(true)
    expect(blocks === null || (Number.isSafeInteger(blocks) && blocks > 0), chainId).toBe(true)
  }
})

test('a vendor has its own limit of a chain, else that of all others', () => {
  const vendor = { ...vendors['alchemy'], logBlocks: { '*': 10_000, '1': null, '10143': 1_000 } } as never
  expect([1, 10_143, 42_220].map((chainId) => getVendorLogBlocks(vendor, chainId))).toEqual([undefined, 1_000, 10_000])
  expect(getVendorLogBlocks({ ...vendors['infura'] } as never, 1)).toBeUndefined()
})

test('names of networks are known as no secrets', () => {
  expect(['arbitrum', 'eth-mainnet', 'a-secret-key'].map(isVendorNetwork)).toEqual([true, true, false])
})
