import { expect, onTestFinished, test } from 'vitest'
import { ChainReadError } from '../../src/proxy/subscription/chain/chainNodes.ts'
import type { ChainNode, ChainNodes } from '../../src/proxy/subscription/chain/chainNodes.ts'
import { createChainNodes } from '../../src/proxy/subscription/chain/createChainNodes.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { startNodeSource } from './startNodeSource.ts'

interface Started {
  readonly nodes: ChainNodes
  readonly first: FakeUpstream
  readonly second: FakeUpstream
}

/** Starts two upstreams that respond with their own names, and a group of them. */
const start = async (heads: readonly [number, number] = [100, 100]): Promise<Started> => {
  const [first, second] = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
  for (const [index, upstream] of [first, second].entries()) {
    upstream.head = heads[index] as number
    upstream.behave = (call) => result(call, `"node ${index}"`)
    onTestFinished(upstream.stop)
  }
  const { group } = await startNodeSource([first, second].map(({ url }, index) => ({ url, name: `node-${index}` })))
  return {
    nodes: createChainNodes(() => group, { timeoutMs: 60_000, maxResponseBytes: 1_000, maxBufferedBytes: Infinity }),
    first,
    second,
  }
}
const readLatest = (node: ChainNode | undefined): Promise<string | undefined> =>
  node?.call('eth_getBlockByNumber', '["latest",false]') ?? Promise.resolve(undefined)

test('one node is followed until it is left', async () => {
  const { nodes, first } = await start()
  expect([
    await readLatest(nodes.followed()),
    await readLatest(nodes.followed()),
    await readLatest(nodes.other()),
  ]).toEqual(['"node 0"', '"node 0"', '"node 1"'])
  expect(first.bodies[0]).toMatch(/"method":"eth_getBlockByNumber","params":\["latest",false\]\}$/)
  expect(nodes.leave()).toBe(true)
  expect([await readLatest(nodes.followed()), await readLatest(nodes.other())]).toEqual(['"node 1"', '"node 0"'])
})

test('a node that is unreachable is replaced, and there is none to leave it for', async () => {
  const { nodes, first, second } = await start()
  nodes.followed()
  await first.stop()
  await expect(readLatest(nodes.followed())).rejects.toMatchObject({ isNodeFailure: true })
  expect(await readLatest(nodes.followed())).toBe('"node 1"')
  expect([nodes.other(), nodes.leave()]).toEqual([undefined, false])
  expect(await readLatest(nodes.followed())).toBe('"node 1"')
  await second.stop()
  await expect(readLatest(nodes.followed())).rejects.toMatchObject({ isNodeFailure: true })
  expect(nodes.followed()).toBeUndefined()
})

test('a node that lags behind is not followed', async () => {
  const { nodes } = await start([50, 100])
  expect(await readLatest(nodes.followed())).toBe('"node 1"')
})

test.each([
  ['an error of the node', '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"unknown block"}}', 200, false],
  ['too many requests', '{}', 429, true],
  ['a broken response', '{', 200, true],
  ['a large response', `{"jsonrpc":"2.0","id":ID,"result":"${'x'.repeat(1_000)}"}`, 200, true],
])('%s is no result', async (_, text, status, isNodeFailure) => {
  const { nodes, first } = await start()
  first.behave = (call, response) => {
    response.statusCode = status
    return text.replace('ID', String(call.id))
  }
  const error: unknown = await readLatest(nodes.followed()).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ChainReadError)
  expect(error).toMatchObject({ isNodeFailure, message: 'node-0 sent no result for eth_getBlockByNumber' })
})
