import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { getApiKeyUrl } from '../src/index.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'
import { startChainAnvil } from './subscription/chainAnvil.ts'

let nodes: Anvil[] = []
let started: StartedGateway
let rpcUrl = ''

const call = async (
  url: string,
  method: string,
  params: unknown = [],
): Promise<{ result?: unknown; error?: unknown }> =>
  JSON.parse((await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text) as object
const get = async <Result>(url: string, method: string, params: unknown = []): Promise<Result> =>
  (await call(url, method, params)).result as Result

beforeAll(async () => {
  const options = ['--chain-id', String(chainIds.testnet), '--no-mining']
  nodes = await Promise.all([startAnvil(...options), startAnvil(...options)])
  started = await startGateway(
    { testnet: [] },
    {
      networks: {
        testnet: {
          chainId: chainIds.testnet,
          broadcast: 'all',
          methodPresets: ['otterscan'],
          upstreams: nodes.map(({ url }) => ({ url })),
        },
      },
    },
  )
  rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
})
afterAll(async () => {
  await started.gateway.close({ graceMs: 0 })
  await Promise.all(nodes.map((node) => node.stop()))
})

/** Signs a transaction with an account of anvil. */
const sign = async (account: number, more: object = {}): Promise<string> => {
  const [{ url } = { url: '' }] = nodes
  const accounts = await get<readonly string[]>(url, 'eth_accounts')
  const from = accounts[account]
  const fees = { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00' }
  const transaction = { from, to: from, value: '0x1', gas: '0x5208', nonce: '0x0', type: '0x2', ...fees, ...more }
  return get(url, 'eth_signTransaction', [transaction])
}

describe('a transaction to two real nodes', () => {
  test('reaches both, and has its hash when it is sent again', async () => {
    const raw = await sign(0)
    const hash = await get<string>(rpcUrl, 'eth_sendRawTransaction', [raw])
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
    for (const { url } of nodes)
      await vi.waitFor(async () => expect(await get(url, 'eth_getTransactionByHash', [hash])).toMatchObject({ hash }))
    expect(await get(rpcUrl, 'eth_sendRawTransaction', [raw])).toBe(hash)
  })

  test('is rejected by both', async () => {
    const raw = await sign(1, { value: `0x${'f'.repeat(30)}` })
    expect(JSON.stringify(await call(rpcUrl, 'eth_sendRawTransaction', [raw]))).toMatch(/insufficient funds/i)
  })
})

test('a method of a preset reaches a real node', async () => {
  expect(await get(rpcUrl, 'ots_getApiLevel')).toEqual(expect.any(Number))
  expect((await call(rpcUrl, 'erigon_blockNumber')).error).toMatchObject({ code: -32601 })
})

test('blocks, transactions and receipts of a real node are those that were requested', async () => {
  const [{ url } = { url: '' }, other] = nodes
  const hash = await get<string>(rpcUrl, 'eth_sendRawTransaction', [await sign(2)])
  for (const node of [url, other?.url ?? '']) {
    await vi.waitFor(async () => expect(await get(node, 'eth_getTransactionByHash', [hash])).not.toBeNull())
    await get(node, 'evm_mine', [{ timestamp: 2_000_000_000 }])
  }
  const receipt = await get<{ blockHash: string; blockNumber: string; transactionIndex: string }>(
    rpcUrl,
    'eth_getTransactionReceipt',
    [hash],
  )
  const { blockHash, blockNumber, transactionIndex } = receipt
  const outcomes = () => started.gateway.upstreams().map((state) => state.outcomes.get('badResponse') ?? 0)
  for (const [method, params] of [
    ['eth_getBlockByHash', [blockHash, true]],
    ['eth_getBlockByNumber', [blockNumber, false]],
    ['eth_getBlockByNumber', ['latest', false]],
    ['eth_getTransactionByHash', [hash]],
    ['eth_getTransactionByBlockHashAndIndex', [blockHash, transactionIndex]],
    ['eth_getTransactionByBlockNumberAndIndex', [blockNumber, transactionIndex]],
    ['eth_getTransactionReceipt', [hash]],
    ['eth_getBlockReceipts', [blockNumber]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: blockNumber }]],
  ] as const)
    expect([method, await get(rpcUrl, method, params)]).toEqual([method, await get(url, method, params)])
  expect(outcomes()).toEqual([0, 0])
})

test('logs of a real node are inside their filter', async () => {
  const chain = await startChainAnvil()
  onTestFinished(chain.stop)
  await chain.mine(3)
  await chain.mine(2)
  const { gateway, url, testnetKey } = await startGateway({ testnet: [chain.url] })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const own = getApiKeyUrl(url, 'testnet', testnetKey)
  const range = { fromBlock: '0x0', toBlock: 'latest' }
  const all = await chain.send<readonly { topics: readonly string[]; address: string; blockHash: string }[]>(
    'eth_getLogs',
    [range],
  )
  expect(all).toHaveLength(10)
  const [first] = all
  for (const filter of [
    range,
    { ...range, address: first?.address },
    { ...range, address: [first?.address] },
    { ...range, topics: [first?.topics[0]] },
    { ...range, topics: [null, first?.topics[1]] },
    { ...range, topics: [[first?.topics[0], null]] },
    { fromBlock: '0x2', toBlock: '0x2' },
    { fromBlock: '0x3', toBlock: '0x30' },
    { blockHash: first?.blockHash },
  ])
    expect([filter, await get(own, 'eth_getLogs', [filter])]).toEqual([
      filter,
      await chain.send('eth_getLogs', [filter]),
    ])
})
