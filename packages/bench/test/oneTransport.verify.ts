import { budget, cache, createTransport, failover, stats } from '@keyrail/core'
import type { KeyrailTransport, StatsFeature, StatsMethods, TransportOptions } from '@keyrail/core'
import { reply, raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { KeyrailProvider as EthersProvider } from '@keyrail/ethers'
import { createClient, getBlock } from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { KeyrailProvider as Web3Provider } from '@keyrail/web3'
import { createPublicClient } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Web3 } from 'web3'

const word = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`
const block = {
  number: '0x7',
  hash: word('a'),
  parentHash: word('b'),
  nonce: '0x0000000000000000',
  sha3Uncles: word('c'),
  logsBloom: `0x${'0'.repeat(512)}`,
  transactionsRoot: word('d'),
  stateRoot: word('e'),
  receiptsRoot: word('f'),
  miner: `0x${'ab'.repeat(20)}`,
  mixHash: word('1'),
  difficulty: '0x0',
  extraData: '0x',
  size: '0x220',
  gasLimit: '0x1c9c380',
  gasUsed: '0x5208',
  timestamp: '0x65',
  baseFeePerGas: '0x7',
  transactions: [],
  uncles: [],
}

/** The calls of a library on the shared transport. */
interface Library {
  readonly blockNumber: () => Promise<unknown>
  readonly balance: (address: `0x${string}`) => Promise<unknown>
  /** Gets the number of a block by its hash. */
  readonly getNumber: (hash: `0x${string}`) => Promise<unknown>
  readonly close: () => void
}
const names = ['fetch', 'viem', 'ethers', 'web3'] as const
type Libraries = Readonly<Record<(typeof names)[number], Library>>

/** Opens all four libraries on a transport. */
function openLibraries(transport: KeyrailTransport): Libraries {
  const client = createClient(transport)
  const viem = createPublicClient({ chain: mainnet, transport: keyrail(transport), cacheTime: 0 })
  const ethers = new EthersProvider(transport)
  const provider = new Web3Provider(transport)
  const { eth } = new Web3(provider)
  return {
    fetch: {
      blockNumber: async () => BigInt(await client.eth_blockNumber()),
      balance: async (address) => BigInt(await client.eth_getBalance(address, 'latest')),
      getNumber: async (hash) => (await getBlock(client, { block: hash }))?.number,
      close: () => client.close(),
    },
    viem: {
      blockNumber: () => viem.getBlockNumber(),
      balance: (address) => viem.getBalance({ address }),
      getNumber: async (blockHash) => (await viem.getBlock({ blockHash })).number,
      close: () => {},
    },
    ethers: {
      blockNumber: async () => BigInt(await ethers.getBlockNumber()),
      balance: (address) => ethers.getBalance(address),
      getNumber: async (hash) => BigInt((await ethers.getBlock(hash))?.number ?? -1),
      close: () => ethers.destroy(),
    },
    web3: {
      blockNumber: () => eth.getBlockNumber(),
      balance: (address) => eth.getBalance(address),
      getNumber: async (hash) => (await eth.getBlock(hash)).number,
      close: () => provider.disconnect(),
    },
  }
}

let first: FaultServer
let second: FaultServer
const open: { readonly close: () => void }[] = []
beforeEach(async () => {
  const node = (height: string): Promise<FaultServer> =>
    startFaultServer((seen, response, socket) =>
      reply(seen.json.method === 'eth_getBlockByHash' ? block : height)(seen, response, socket),
    )
  first = await node('0x10')
  second = await node('0x20')
})
afterEach(async () => {
  for (const one of open.splice(0)) one.close()
  await first.close()
  await second.close()
})

const start = (
  options: Partial<TransportOptions> = {},
): { transport: KeyrailTransport & StatsMethods; libraries: Libraries } => {
  const address = options.endpoints ? {} : { url: first.url, chainId: 1 }
  const transport = createTransport({ ...address, retry: false, ...options, stats: stats() } as TransportOptions & {
    stats: StatsFeature
  })
  const libraries = openLibraries(transport)
  open.push(...Object.values(libraries), transport)
  return { transport, libraries }
}
const address = (digit: number): `0x${string}` => `0x${String(digit).repeat(40)}`
const countConnections = ({ seen }: FaultServer): number => new Set(seen.map(({ connection }) => connection)).size

test('one count: the calls of all four are calls of the transport, and nothing else is sent', async () => {
  const { transport, libraries } = start()
  for (const name of names) expect(await libraries[name].blockNumber(), name).toBe(16n)
  expect(first.seen.map(({ json }) => json.method)).toEqual(names.map(() => 'eth_blockNumber'))
  expect(transport.stats()).toMatchObject({ calls: 4, answered: 4, requests: 4, failed: 0 })
})

test('one cache: a block by hash that all four request is one request', async () => {
  const { transport, libraries } = start({ cache: cache() })
  for (const name of names) expect(await libraries[name].getNumber(word('a')), name).toBe(7n)
  expect(first.seen.map(({ json }) => json.method)).toEqual(['eth_getBlockByHash'])
  expect(transport.stats()).toMatchObject({ calls: 4, requests: 1, cached: 3 })
})

test('coalescing: a read that all four make at once is one request', async () => {
  const waiting: (() => void)[] = []
  first.script = (seen, response, socket) => void waiting.push(() => reply('0x10')(seen, response, socket))
  const { transport, libraries } = start()
  const all = Promise.all(names.map((name) => libraries[name].balance(address(1))))
  await expect.poll(() => [transport.stats().joined, waiting.length]).toEqual([3, 1])
  waiting[0]?.()
  expect(await all).toEqual([16n, 16n, 16n, 16n])
  expect(first.seen).toHaveLength(1)
})

test('one budget: the others cannot use what one library has used', async () => {
  const { transport, libraries } = start({ budget: budget({ requestsPerDay: 6 }) })
  for (const [at, name] of names.entries()) await libraries[name].balance(address(at))
  expect(transport.stats().endpointStates[0]?.budget).toMatchObject({ used: 4, usedToday: 4, leftToday: 2 })
  await libraries.ethers.balance(address(5))
  await libraries.web3.balance(address(6))
  for (const name of names) await expect(libraries[name].balance(address(7)), name).rejects.toThrow(/day|quota/)
  expect(first.seen).toHaveLength(6)
})

test('one health state: an endpoint that failed once or twice for each of them is skipped by all', async () => {
  first.script = raw(503, 'down')
  const { transport, libraries } = start({
    endpoints: failover([{ url: first.url }, { url: second.url }], { chainId: 1, breaker: { failures: 4 } }),
  } as Partial<TransportOptions>)
  for (const name of names) {
    expect(transport.stats().endpointStates[0]?.health?.state, name).toBe('closed')
    expect(await libraries[name].blockNumber(), name).toBe(32n)
  }
  expect(transport.stats().endpointStates.map(({ health }) => health?.state)).toEqual(['open', 'closed'])
  for (const name of names) expect(await libraries[name].blockNumber(), name).toBe(32n)
  expect(first.seen).toHaveLength(4)
  expect(second.seen).toHaveLength(8)
})

test('one connection pool: sequential calls use one connection, and concurrent calls share a few', async () => {
  const { libraries } = start({ maxInFlight: 2, coalesce: false })
  for (let round = 0; round < 3; round++) for (const name of names) await libraries[name].blockNumber()
  expect(first.seen).toHaveLength(12)
  expect(countConnections(first)).toBe(1)
  await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((n) => names.map((name) => libraries[name].balance(address(n)))),
  )
  expect(first.seen).toHaveLength(12 + 9 * 4)
  // A slot is released shortly before its connection is free, so more connections than slots may be open, but not one for each library.
  expect(countConnections(first)).toBeLessThanOrEqual(4)
})

test('closing one library does not affect the others, and a closed transport is closed for all', async () => {
  const { transport, libraries } = start()
  libraries.fetch.close()
  libraries.ethers.close()
  libraries.web3.close()
  expect(await libraries.viem.blockNumber()).toBe(16n)
  expect(await libraries.fetch.blockNumber()).toBe(16n)
  transport.close()
  await expect(libraries.viem.blockNumber()).rejects.toThrow('the transport is closed')
  await expect(libraries.fetch.blockNumber()).rejects.toThrow('the transport is closed')
  expect(first.seen).toHaveLength(2)
})
