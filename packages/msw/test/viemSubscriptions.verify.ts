import { applyBlocks, applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenBlock, SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { createTransport } from '@keyrail/core'
import { createPublicClient, encodeEventTopics, fallback, http, toHex } from 'viem'
import type { Hex, Transport } from 'viem'
import { watchBlockHeaders } from 'viem/actions'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyrail, keyrailTransports, webSocket } from '@keyrail/viem'
import type { ProviderName } from '../src/index.ts'
import { createDisruptedNode, mockServer } from './disruptedNode.ts'
import type { DisruptedNode } from './disruptedNode.ts'

beforeAll(() => mockServer.listen({ onUnhandledFrame: 'error' }))
afterAll(() => mockServer.close())

let chain: DisruptedNode
let transport: ReturnType<typeof createTransport>
const stops: (() => void)[] = []
const use = (provider: ProviderName = 'keyrail'): void => {
  chain = createDisruptedNode(provider)
  transport = createTransport({ ...chain.options, retry: { baseMs: 1 }, webSocket: webSocket() })
}
beforeEach(() => use())
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  transport.close()
})

/** Resolves when a number of subscriptions have started. */
const started = async (count: number): Promise<void> => {
  await expect.poll(() => chain.node.calls('eth_subscribe').length).toBeGreaterThanOrEqual(count)
}
const createClient = (over: Transport = keyrail(transport)) => createPublicClient({ transport: over, cacheTime: 0 })

describe.each<ProviderName>(['keyrail', 'node'])('over the errors and limits of %s', (provider) => {
  test.each([
    ['keyrail()', () => keyrail(transport)],
    ['fallback([keyrail(), http()])', () => fallback([keyrail(transport), http('http://127.0.0.1:9')])],
  ])('the watchers of viem miss nothing and report nothing twice: %s', async (_, over) => {
    use(provider)
    const client = createClient(over())
    const errors: unknown[] = []
    const onError = (error: Error): void => void errors.push(error)
    const blocks: SeenBlock[] = []
    const full: SeenBlock[] = []
    const numbers: bigint[] = []
    const logs: (SeenLog & { readonly number: bigint })[] = []
    const collect =
      (list: SeenBlock[]) => (block: { number: bigint | null; hash: string | null; parentHash: string }) =>
        void list.push({ number: Number(block.number), hash: block.hash as string, parentHash: block.parentHash })
    stops.push(
      client.watchBlocks({ onBlock: collect(blocks), onError }),
      client.watchBlocks({ onBlock: collect(full), includeTransactions: true, onError }),
      client.watchBlockNumber({ onBlockNumber: (number) => void numbers.push(number), onError }),
      client.watchEvent({
        address: chain.address,
        onError,
        onLogs: (received) => {
          for (const { blockHash, blockNumber, logIndex, removed } of received)
            logs.push({
              blockHash: blockHash as string,
              number: blockNumber as bigint,
              logIndex: logIndex as number,
              removed,
            })
        },
      }),
    )
    await started(4)
    await chain.disrupt(() => [blocks.at(-1)?.number, full.at(-1)?.number, numbers.at(-1), logs.at(-1)?.number])
    const expected = await chain.getBlocks()
    expect(applyBlocks(blocks)).toEqual(expected)
    expect(applyBlocks(full)).toEqual(expected)
    expect(new Set(numbers)).toEqual(new Set(expected.map(({ number }) => BigInt(number))))
    expect(applyLogs(logs)).toEqual(await chain.getLogs())
    expect(errors).toEqual([])
  })
})

test('keyrailTransports subscribe', async () => {
  const { baseUrl, apiKey: key, chainId } = chain.options
  const options = { baseUrl: baseUrl.replace('testnet', '{network}'), apiKey: key, webSocket: webSocket() }
  const transports = keyrailTransports({ ...options, networks: { [chainId]: 'testnet' } }, [{ id: chainId }])
  const numbers: bigint[] = []
  const client = createClient(transports[chainId])
  stops.push(client.watchBlockNumber({ onBlockNumber: (number) => void numbers.push(number) }))
  await started(1)
  chain.node.mine(3)
  await expect.poll(() => numbers).toEqual([6n, 7n, 8n])
})

test('watchContractEvent, watchPendingTransactions and watchBlockHeaders subscribe', async () => {
  const abi = [{ type: 'event', name: 'Moved', inputs: [{ name: 'by', type: 'uint256' }] }] as const
  const client = createPublicClient({ transport: keyrail({ ...chain.options, webSocket: webSocket() }), cacheTime: 0 })
  const moved: unknown[] = []
  const hashes: string[] = []
  const headers: bigint[] = []
  stops.push(
    client.watchContractEvent({
      abi,
      address: chain.address,
      eventName: 'Moved',
      onLogs: (logs) => void moved.push(...logs.map(({ args }) => args.by)),
    }),
    client.watchPendingTransactions({ onTransactions: (received) => void hashes.push(...received) }),
    watchBlockHeaders(client, { onBlockHeader: ({ number }) => void headers.push(number) }),
  )
  await started(3)
  const hash = chain.node.emit({
    address: chain.address,
    topics: encodeEventTopics({ abi }) as [Hex],
    data: toHex(7n, { size: 32 }),
  })
  await expect.poll(() => [moved, hashes, headers]).toEqual([[7n], [hash], [6n]])
})

test('a watcher that starts while the node is unreachable reports what comes after the first head that it reads', async () => {
  chain.node.fail('network', { times: 8 })
  const numbers: bigint[] = []
  stops.push(createClient().watchBlockNumber({ onBlockNumber: (number) => void numbers.push(number) }))
  await started(1)
  chain.node.mine()
  await expect.poll(() => numbers).toEqual([6n])
})

test('a watcher reports a failure that is not retryable, once and as an error of viem', async () => {
  const errors: Error[] = []
  const onError = (error: Error): void => void errors.push(error)
  const wrongKey = keyrail({
    ...chain.options,
    apiKey: `${chain.options.apiKey.slice(0, -1)}1`,
    webSocket: webSocket(),
  })
  stops.push(createClient(wrongKey).watchBlocks({ onBlock: () => {}, onError }))
  await expect.poll(() => errors).toMatchObject([{ name: 'HttpRequestError', failure: { kind: 'auth' } }])
  stops.push(createClient().watchBlocks({ onBlock: () => {}, onError }))
  await started(1)
  transport.close()
  await expect.poll(() => errors.slice(1)).toMatchObject([{ failure: { kind: 'aborted' } }])
})

test('nothing is reported after unwatch', async () => {
  const numbers: bigint[] = []
  const client = createClient()
  const first = client.watchBlocks({ onBlock: () => void numbers.push(0n) })
  stops.push(client.watchBlockNumber({ onBlockNumber: (number) => void numbers.push(number) }))
  await started(2)
  first()
  await expect.poll(() => chain.node.calls('eth_unsubscribe').length).toBe(1)
  chain.node.mine()
  await expect.poll(() => numbers).toEqual([6n])
})

test('an error of a listener is an unhandled rejection, and the watcher continues', async () => {
  const unhandled: unknown[] = []
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.once('unhandledRejection', (reason) => unhandled.push(reason))
  const failure = new Error('mine')
  const numbers: bigint[] = []
  stops.push(
    createClient().watchBlockNumber({
      onBlockNumber: (number) => {
        numbers.push(number)
        if (number === 6n) throw failure
      },
    }),
  )
  await started(1)
  chain.node.mine(2)
  await expect.poll(() => [numbers, unhandled]).toEqual([[6n, 7n], [failure]])
  for (const listener of listeners) process.on('unhandledRejection', listener)
})

test('without webSocket, viem polls', async () => {
  const polling = createPublicClient({ transport: keyrail(chain.options), cacheTime: 0, pollingInterval: 20 })
  expect(polling.transport).toMatchObject({ type: 'keyrail' })
  expect(polling.transport).not.toHaveProperty('subscribe')
  const numbers: bigint[] = []
  stops.push(polling.watchBlockNumber({ emitOnBegin: true, onBlockNumber: (number) => void numbers.push(number) }))
  await expect.poll(() => numbers).toEqual([5n])
  expect(chain.node.calls('eth_subscribe')).toEqual([])
})
