import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { createBatch, createCall } from './nodeFailures.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import { wrongResults } from './wrongResults.ts'

const fromSecond: Behaviour = (call) => result(call, '"second"')

const start = async (count: number, network: object = {}) => {
  const nodes: FakeUpstream[] = []
  for (let index = 0; index < count; index += 1) {
    const node = await startFakeUpstream(chainIds.testnet)
    onTestFinished(node.stop)
    node.behave = fromSecond
    nodes.push(node)
  }
  const upstreams = nodes.map(({ url }) => ({ url }))
  const { gateway, url, testnetKey } = await startGateway(
    { testnet: [] },
    { networks: { testnet: { chainId: chainIds.testnet, upstreams, ...network } } },
  )
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  const getOutcomes = (kind: 'badResponse' | 'result') =>
    gateway.upstreams().map(({ outcomes }) => outcomes.get(kind) ?? 0)
  return { nodes, gateway, getOutcomes, rpcUrl: getApiKeyUrl(url, 'testnet', testnetKey) }
}

describe('the caller gets the result of another node if', () => {
  test.each(wrongResults)('$name', async (failure) => {
    const { nodes, rpcUrl, getOutcomes } = await start(2)
    const [first] = nodes
    if (first !== undefined) first.behave = failure.behave
    expect((await post(rpcUrl, createCall(failure, 1))).text).toBe('{"jsonrpc":"2.0","id":1,"result":"second"}')
    const batch = JSON.parse((await post(rpcUrl, createBatch(failure))).text) as unknown
    expect(batch).toEqual([1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, result: 'second' })))
    expect(getOutcomes('badResponse')).toEqual([4, 0])
  })

  test('no logs are found for the hash of a block, and once only if both have none', async () => {
    const { nodes, rpcUrl } = await start(2)
    const [first, second] = nodes as [FakeUpstream, FakeUpstream]
    first.behave = (call) => result(call, '[]')
    const byHash = (digit: string) =>
      createCall({ method: 'eth_getLogs', params: () => [{ blockHash: `0x${digit.repeat(64)}` }] }, 1)
    expect((await post(rpcUrl, byHash('1'))).text).toContain('second')
    second.behave = first.behave
    for (let times = 0; times < 2; times += 1) expect((await post(rpcUrl, byHash('2'))).text).toContain('[]')
    expect([first.bodies.length, second.bodies.length]).toEqual([3, 2])
    const byRange = createCall({ method: 'eth_getLogs', params: () => [{ fromBlock: '0x1', toBlock: '0x2' }] }, 1)
    expect((await post(rpcUrl, byRange)).text).toContain('[]')
    expect(second.bodies).toHaveLength(2)
  })
})

test('a wrong result of the only node is an error, unless results are not verified', async () => {
  const [failure] = wrongResults
  if (failure === undefined) throw new Error('there is a failure')
  const strict = await start(1)
  const loose = await start(1, { verifyResults: false })
  for (const node of [...strict.nodes, ...loose.nodes]) node.behave = failure.behave
  expect((await post(strict.rpcUrl, createCall(failure, 1))).text).toContain('upstream_bad')
  expect((await post(loose.rpcUrl, createCall(failure, 1))).text).toContain('0x10')
})

describe('a large result', () => {
  const log = (block: number, index: number): string =>
    `{"address":"0x${'a1'.repeat(20)}","topics":[],"data":"0x${'00'.repeat(500)}","blockNumber":"0x${block.toString(16)}","transactionIndex":"0x0","logIndex":"0x${index.toString(16)}"}`
  const logs = (blocks: readonly number[]): string => `[${blocks.map((block, index) => log(block, index)).join(',')}]`
  const inside = Array.from({ length: 2_000 }, () => 0x60)
  const call = createCall({ method: 'eth_getLogs', params: () => [{ fromBlock: '0x60', toBlock: '0x60' }] }, 1)

  test('is streamed if it is right', async () => {
    const { nodes, rpcUrl, getOutcomes } = await start(2)
    for (const node of nodes) node.behave = (sent) => result(sent, logs(inside))
    const response = await post(rpcUrl, call)
    expect(response.headers.get('content-length')).toBeNull()
    expect(response.text.length).toBeGreaterThan(2_000_000)
    expect(getOutcomes('badResponse')).toEqual([0, 0])
  })

  test('goes to another node if its start is wrong', async () => {
    const { nodes, rpcUrl, getOutcomes } = await start(2)
    const [first] = nodes as [FakeUpstream]
    first.behave = (sent) => result(sent, logs([0x61, ...inside]))
    expect((await post(rpcUrl, call)).text).toContain('second')
    expect(getOutcomes('badResponse')).toEqual([1, 0])
  })

  test('breaks off if it is found to be wrong after it began, which counts for its node', async () => {
    const { nodes, rpcUrl, getOutcomes } = await start(2)
    for (const node of nodes) node.behave = (sent) => result(sent, logs([...inside, 0x61]))
    await expect(post(rpcUrl, call)).rejects.toThrow(/terminated|fetch failed/)
    await vi.waitFor(() => expect(getOutcomes('badResponse')).toEqual([1, 0]))
  })
})
