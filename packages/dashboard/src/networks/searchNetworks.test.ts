import { expect, test } from 'vitest'
import { searchNetworkChoices, searchNetworks } from './searchNetworks.ts'
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
  ['the title of a chain', 'ethereum', ['chain ethereum', 'testnet', 'mainnet']],
  ['the alias of a chain', 'matic', ['polygon']],
  ['the symbol', 'pol', ['polygon', 'testnet']],
  ['the alias of a network', 'sepolia', ['testnet']],
  ['the chain id', '1', ['mainnet', 'testnet', 'polygon']],
  ['nothing', '', ['chain ethereum', 'testnet', 'mainnet', 'polygon']],
])('finds networks, and a chain with several of them, by %s', (_by, text, expected) => {
  const found = searchNetworkChoices({ chains, networks })(text)
  expect(found.map(({ value }) => value)).toEqual(expected)
  for (const { networks: chosen, isChain } of found) expect(chosen.length > 1).toBe(isChain)
})
