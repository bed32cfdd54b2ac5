import { applyBlocks, applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenBlock, SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { createTransport, KeyrailProvider, webSocket } from '@keyrail/web3'
import type { ProviderName } from '../src/index.ts'
import { createDisruptedNode, mockServer } from './disruptedNode.ts'
import type { DisruptedNode } from './disruptedNode.ts'

beforeAll(() => mockServer.listen({ onUnhandledFrame: 'error' }))
afterAll(() => mockServer.close())

let chain: DisruptedNode
let provider: KeyrailProvider
let web3: Web3
const use = (name: ProviderName = 'keyrail'): void => {
  chain = createDisruptedNode(name)
  provider = new KeyrailProvider({ ...chain.options, retry: { baseMs: 1 }, webSocket: webSocket() })
  web3 = new Web3(provider)
}
beforeEach(() => use())
afterEach(() => provider.disconnect())

/** Resolves when a number of subscriptions have started. */
const started = async (count: number): Promise<void> => {
  await expect.poll(() => chain.node.calls('eth_subscribe').length).toBeGreaterThanOrEqual(count)
}

describe.each<ProviderName>(['keyrail', 'node'])('over the errors and limits of %s', (name) => {
  test('the subscriptions of web3 miss nothing and report nothing twice', async () => {
    provider.disconnect()
    use(name)
    const { address } = chain
    const blocks: SeenBlock[] = []
    const logs: SeenLog[] = []
    let newest = 0
    const heads = await web3.eth.subscribe('newHeads')
    heads.on('data', ({ number, hash, parentHash }) => {
      blocks.push({ number: Number(number), hash: String(hash), parentHash: String(parentHash) })
    })
    const matching = await web3.eth.subscribe('logs', { address })
    matching.on('data', ({ blockHash, blockNumber, logIndex, removed }) => {
      logs.push({ blockHash: String(blockHash), logIndex: Number(logIndex), removed: removed === true })
      newest = Number(blockNumber)
    })
    await started(2)
    await chain.disrupt(() => [blocks.at(-1)?.number, newest])
    expect(applyBlocks(blocks)).toEqual(await chain.getBlocks())
    expect(applyLogs(logs)).toEqual(await chain.getLogs())
  })
})

test('events of contracts, pending transactions and confirmations work', async () => {
  expect(provider.supportsSubscriptions()).toBe(true)
  const abi = [
    { type: 'event', name: 'Moved', inputs: [{ name: 'by', type: 'uint256', indexed: false }], anonymous: false },
  ] as const
  const contract = new web3.eth.Contract(abi, chain.address)
  const moved: unknown[] = []
  const pending: unknown[] = []
  contract.events.Moved().on('data', ({ returnValues }) => void moved.push(returnValues['by']))
  const transactions = await web3.eth.subscribe('newPendingTransactions')
  transactions.on('data', (hash) => void pending.push(hash))
  await started(2)
  const hash = chain.node.emit({
    address: chain.address,
    topics: [web3.utils.sha3('Moved(uint256)') as `0x${string}`],
    data: web3.utils.padLeft('0x7', 64) as `0x${string}`,
  })
  await expect.poll(() => [moved, pending]).toEqual([[7n], [hash]])
  const [from, to] = (await web3.eth.getAccounts()) as [string, string]
  const confirmations: bigint[] = []
  const receipt = await web3.eth
    .sendTransaction({ from, to, value: 1 })
    .on('confirmation', ({ confirmations: count }) => void confirmations.push(count))
  expect(receipt.status).toBe(1n)
  await expect.poll(() => (chain.node.mine(), confirmations.length)).toBeGreaterThan(1)
})

test('nothing is reported after unsubscribe', async () => {
  const numbers: number[] = []
  const heads = await web3.eth.subscribe('newHeads')
  heads.on('data', () => void numbers.push(0))
  const other = await web3.eth.subscribe('newHeads')
  other.on('data', ({ number }) => void numbers.push(Number(number)))
  await started(2)
  await heads.unsubscribe()
  await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(1)
  chain.node.mine()
  await expect.poll(() => numbers).toEqual([6])
})

test('the EIP-1193 provider shares listeners and subscriptions', async () => {
  const eip1193 = provider.asEIP1193Provider()
  const messages: unknown[] = []
  const listener = (message: unknown): void => void messages.push(message)
  provider.on('message', listener)
  provider.once('message', listener)
  const id = await eip1193.request({ method: 'eth_subscribe', params: ['newHeads'] })
  await started(1)
  chain.node.mine(2)
  await expect.poll(() => messages.length).toBe(3)
  expect(messages[0]).toMatchObject({ type: 'eth_subscription', data: { subscription: id, result: { number: '0x6' } } })
  expect(await eip1193.request({ method: 'eth_unsubscribe', params: [id as string] })).toBe(true)
  provider.removeListener('message', listener as never)
  await eip1193.request({ method: 'eth_subscribe', params: ['newHeads'] })
  const others: unknown[] = []
  provider.on('message', (message: unknown) => void others.push(message))
  await started(2)
  chain.node.mine()
  await expect.poll(() => others.length).toBe(1)
  expect(messages).toHaveLength(3)
})

test('a failure that is not retryable is a disconnect event', async () => {
  const transport = createTransport({ ...chain.options, webSocket: webSocket() })
  const shared = new KeyrailProvider(transport)
  const failures: unknown[] = []
  shared.on('disconnect', (failure: unknown) => void failures.push(failure))
  await new Web3(shared).eth.subscribe('newHeads')
  await started(1)
  transport.close()
  await expect.poll(() => failures).toMatchObject([{ code: 4900, kind: 'aborted' }])
})

test('disconnect ends the subscriptions of this provider, and leaves a shared transport open', async () => {
  const transport = createTransport({ ...chain.options, webSocket: webSocket() })
  const shared = new KeyrailProvider(transport)
  const blocks: unknown[] = []
  const heads = await new Web3(shared).eth.subscribe('newHeads')
  heads.on('data', (block) => void blocks.push(block))
  await started(1)
  shared.disconnect()
  await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(1)
  chain.node.mine()
  expect(await transport.request({ method: 'eth_blockNumber' })).toBe('0x6')
  expect(blocks).toEqual([])
  transport.close()
})

test('without webSocket, web3 polls', async () => {
  const polling = new KeyrailProvider(chain.options)
  expect(polling.supportsSubscriptions()).toBe(false)
  await expect(new Web3(polling).eth.subscribe('newHeads')).rejects.toThrow('does not support subscriptions')
  polling.disconnect()
})
