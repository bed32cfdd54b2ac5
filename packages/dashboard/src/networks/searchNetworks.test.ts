import { expect, test } from 'vitest'
import { searchChains, searchNetworks } from './searchNetworks.ts'
import type { NetworkView } from './searchNetworks.ts'

const network = (name: string, chain: string, chainId: number, part: Partial<NetworkView> = {}): NetworkView => ({
  network: name,
  chain,
  title: name,
  chainId,
  symbol: 'ETH',
  testnet: false,
  aliases: [],
  explorerUrl: null,
  url: `https://rpc.example/${name}`,
  ...part,
})
const networks = [
  network('testnet', 'ethereum', 11_155_111, { title: 'Ethereum Sepolia', aliases: ['sepolia'] }),
  network('mainnet', 'ethereum', 1, { title: 'Ethereum Mainnet', aliases: ['eth'] }),
  network('polygon', 'polygon', 137, { title: 'Polygon Mainnet', symbol: 'POL' }),
]
const chains = [
  { chain: 'ethereum', title: 'Ethereum', aliases: ['Ether'] },
  { chain: 'polygon', title: 'Polygon PoS', aliases: ['Matic'] },
]

test.each([
  ['the title', 'ethereum sep', 'testnet'],
  ['the name', 'testnet', 'testnet'],
  ['an alias', 'sepolia', 'testnet'],
  ['the symbol', 'pol', 'polygon'],
  ['the chain id', '137', 'polygon'],
])('finds a network by %s', (_by, text, expected) => {
  expect(searchNetworks(networks)(text)[0]?.network).toBe(expected)
})

test.each([
  ['its title', 'pos', 'polygon'],
  ['an alias', 'matic', 'polygon'],
  ['the alias of a network', 'sepolia', 'ethereum'],
  ['the chain id of a network', '11155111', 'ethereum'],
])('finds a chain by %s, with all its networks', (_by, text, expected) => {
  const found = searchChains({ chains, networks })(text)
  expect(found.map(({ chain }) => chain)).toEqual([expected])
  expect(found[0]?.networks).toEqual(networks.filter(({ chain }) => chain === expected))
})
