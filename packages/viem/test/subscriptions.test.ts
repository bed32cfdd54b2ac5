import { createTransport } from '@keyrail/core'
import type { ProviderName } from '@keyrail/msw'
import { applyBlocks, applyLogs, createDisruptedNode, mockServer } from '@keyrail/contracts/test/disruptedNode.ts'
import type { DisruptedNode, SeenBlock, SeenLog } from '@keyrail/contracts/test/disruptedNode.ts'
import { createPublicClient, fallback, http } from 'viem'
import type { Transport } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyrail, keyrailTransports, webSocket } from '../src/index.ts'

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
const started = (count: number): Promise<void> =>
  expect.poll(() => chain.node.calls('eth_subscribe').length).toBeGreaterThanOrEqual(count) as Promise<void>
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
    const keep = (list: SeenBlock[]) => (block: { number: bigint | null; hash: string | null; parentHash: string }) =>
      void list.push({ number: Number(block.number), hash: block.hash as string, parentHash: block.parentHash })
    stops.push(
      client.watchBlocks({ onBlock: keep(blocks), onError }),
      client.watchBlocks({ onBlock: keep(full), includeTransactions: true, onError }),
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
