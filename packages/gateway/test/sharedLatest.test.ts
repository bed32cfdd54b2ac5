import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { controlTime } from './controlTime.ts'
import { createRandom, createSimulatedChain, startNodes } from './simulatedNodes.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

afterEach(() => void vi.useRealTimers())

const start = async (options: Partial<Parameters<typeof startNodes>[2]> = {}) => {
  const advance = controlTime()
  const random = createRandom(1)
  const chain = createSimulatedChain(random)
  const node = chain.addNode(0)
  const nodes = await startNodes(chain, [node], { chainId: chainIds.testnet, random, ...options })
  onTestFinished(nodes.stop)
  const network = { chainId: chainIds.testnet, upstreams: [{ url: nodes.url }], shareLatest: true }
  const { gateway, url, keys } = await startGateway({ testnet: [] }, { networks: { testnet: network } })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const addCaller = (id: string) => {
    const key = createApiKey('testnet')
    keys.add(key, { id, kind: 'apiKey', networks: ['testnet'], status: 'active' })
    const rpcUrl = getApiKeyUrl(url, 'testnet', key)
    return async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
      // No two calls are sent at the same moment.
      advance(1)
      const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      const response = JSON.parse(text) as { readonly result?: unknown; readonly error?: { readonly code: number } }
      return 'error' in response ? response.error : response.result
    }
  }
  const countCalls = (method: string): number => nodes.calls.get(method) ?? 0
  return { advance, chain, node, addCaller, countCalls }
}

const call = [{ to: `0x${'12'.repeat(20)}` }, 'latest']

test('callers share the results of reads at latest until the next block', async () => {
  const { advance, chain, addCaller, countCalls } = await start()
  const [one, other] = [addCaller('one'), addCaller('other')]
  const first = chain.tip()
  for (const send of [one, other, one]) {
    expect(await send('eth_call', ...call)).toBe(first.hash)
    expect(await send('eth_blockNumber')).toBe(`0x${first.number.toString(16)}`)
    expect(await send('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: first.hash })
    expect(await send('eth_gasPrice')).toBe('0x1')
  }
  const methods = ['eth_call', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_gasPrice', 'eth_blockNumber']
  expect(methods.map(countCalls)).toEqual([1, 1, 1, 1, 0])
  chain.mine()
  advance(1_900)
  await vi.waitFor(async () => expect(await one('eth_call', ...call)).toBe(chain.tip().hash))
  expect(await other('eth_call', ...call)).toBe(chain.tip().hash)
  expect(countCalls('eth_call')).toBe(2)
})

test.each(['rejected', 'ignored'] as const)(
  'reads are sent as they are to a node by which the object of EIP-1898 is %s',
  async (objects) => {
    const { chain, addCaller, countCalls } = await start({ objects })
    const send = addCaller('one')
    for (let count = 1; count <= 3; count += 1) {
      expect(await send('eth_call', ...call)).toBe(chain.tip().hash)
      expect(countCalls('eth_call')).toBe(count)
      chain.mine()
    }
  },
)

test('a caller that has written, or has seen a later block, gets no older result', async () => {
  const { chain, addCaller } = await start({ mines: true })
  const [one, other] = [addCaller('one'), addCaller('other')]
  const first = chain.tip()
  expect(await one('eth_call', ...call)).toBe(first.hash)
  expect(await other('eth_call', ...call)).toBe(first.hash)
  await one('eth_sendRawTransaction', '0x01')
  expect(chain.tip().number).toBe(first.number + 1)
  expect(await one('eth_call', ...call)).toBe(chain.tip().hash)
  chain.send('0x02')
  chain.mine()
  expect(await other('eth_getTransactionReceipt', '0x02')).toMatchObject({ blockHash: chain.tip().hash })
  expect(await other('eth_call', ...call)).toBe(chain.tip().hash)
})

test('nothing is shared where blocks are mined on demand', async () => {
  const { chain, addCaller, countCalls } = await start({ client: 'anvil/v1.7.1' })
  const send = addCaller('one')
  for (let count = 1; count <= 3; count += 1) {
    expect(await send('eth_call', ...call)).toBe(chain.tip().hash)
    expect(countCalls('eth_call')).toBe(count)
    chain.mine()
  }
})

test('the number of the newest block is shared while a node confirms it within two block times', async () => {
  const { advance, chain, node, addCaller, countCalls } = await start()
  const send = addCaller('one')
  const number = `0x${chain.tip().number.toString(16)}`
  expect(await send('eth_blockNumber')).toBe(number)
  node.isDead = true
  advance(3_900)
  expect(await send('eth_blockNumber')).toBe(number)
  expect(countCalls('eth_blockNumber')).toBe(0)
  advance(200)
  const response = send('eth_blockNumber')
  const timer = setInterval(() => advance(10), 5)
  expect(await response).toMatchObject({ code: expect.any(Number) as number })
  clearInterval(timer)
})

test('an idle network gets no queries', async () => {
  const { advance, addCaller, countCalls } = await start()
  await addCaller('one')('eth_blockNumber')
  for (let second = 0; second < 60; second += 1) {
    advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(countCalls('eth_getBlockByNumber')).toBeLessThanOrEqual(2)
})
