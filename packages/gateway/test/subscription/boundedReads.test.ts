import { describe, expect, onTestFinished, test } from 'vitest'
import { createBufferedBytes, getBufferedByKind } from '../../src/lib/memoryBudget.ts'
import type { ChainNode } from '../../src/proxy/subscription/chain/chainNodes.ts'
import { createChainNodes } from '../../src/proxy/subscription/chain/createChainNodes.ts'
import { createChainRing } from '../../src/proxy/subscription/chain/createChainRing.ts'
import { parseBlock } from '../../src/proxy/subscription/chain/parseBlock.ts'
import type { ChainBlock } from '../../src/proxy/subscription/chain/parseBlock.ts'
import { createNetworkHub } from '../../src/proxy/subscription/createNetworkHub.ts'
import { createTransactionReader } from '../../src/proxy/subscription/node/createTransactionReader.ts'
import { until } from '../controlTime.ts'
import { toTestConfig } from '../createTestGateway.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { createClient } from '../openHub.ts'
import { chainIds } from '../startGateway.ts'
import { createBlock } from './scriptedChainNodes.ts'
import { startNodeSource } from './startNodeSource.ts'

const start = async () => {
  const upstream: FakeUpstream = await startFakeUpstream(chainIds.testnet)
  onTestFinished(upstream.stop)
  const { group } = await startNodeSource([{ url: upstream.url, name: 'node' }])
  return { upstream, group }
}
const limits = { timeoutMs: 60_000, maxResponseBytes: 64 * 1024 * 1024, maxBufferedBytes: Infinity }
const hash = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

describe('the reads of a chain', () => {
  test('use the bounds of the last reload', async () => {
    const { upstream, group } = await start()
    upstream.behave = (call) => result(call, createBlock(undefined).text)
    const network = toTestConfig({
      networks: { testnet: { chainId: chainIds.testnet, upstreams: [{ url: upstream.url }] } },
    }).networks.get('testnet')
    let maxBufferedBytes = 0
    const hub = createNetworkHub({
      network: 'testnet',
      getGroup: () => group,
      getNetwork: () => network,
      getLimits: () => ({
        maxSubscriptions: 1,
        maxAddresses: 1,
        maxTopics: 1,
        maxNotificationsPerBlock: 1,
        fullTransactions: true,
      }),
      maxBufferedBytes: () => maxBufferedBytes,
      log: () => {},
    })
    onTestFinished(hub.close)
    let subscribed: object | undefined
    hub.subscribe(createClient(), '["newHeads"]', (result) => (subscribed = result))
    await until(() => upstream.bodies.length > 0)
    expect(subscribed).toBeUndefined()
    maxBufferedBytes = 1_000_000
    await until(() => subscribed !== undefined)
    expect(subscribed).toHaveProperty('id')
  })

  test('reject a block of 36 MB', async () => {
    const { upstream, group } = await start()
    upstream.behave = (call) => result(call, `{"number":"0x1","extraData":"0x${'00'.repeat(18_000_000)}"}`)
    const node = createChainNodes(() => group, limits).followed()
    await expect(node?.call('eth_getBlockByNumber', '["latest",false]')).rejects.toMatchObject({ isNodeFailure: true })
    expect(getBufferedByKind().chain).toBe(0)
  })

  test('reject a header that is longer than those of all chains', () => {
    const { text } = createBlock(undefined)
    expect(parseBlock(text)).toBeDefined()
    expect(parseBlock(text.replace('{', `{"extra":"${'a'.repeat(300_000)}",`))).toBeUndefined()
  })

  test('are few at a time, and count in the memory budget', async () => {
    const { upstream, group } = await start()
    const responds: (() => void)[] = []
    upstream.behave = (call, response) => {
      response.write('{"jsonrpc":"2.0",')
      responds.push(() => void response.end(`"id":${call.id},"result":"0x1"}`))
      return undefined
    }
    const node = createChainNodes(() => group, limits).followed() as ChainNode
    const reads = Array.from({ length: 10 }, () => node.call('eth_getLogs', '[{}]'))
    await until(() => responds.length === 4 && getBufferedByKind().chain === 4 * 17)
    for (let respond = responds.shift(); respond !== undefined; respond = responds.shift()) {
      respond()
      if (upstream.bodies.length < 10) await until(() => responds.length > 3)
    }
    expect(await Promise.all(reads)).toEqual(Array(10).fill('"0x1"'))
    expect(getBufferedByKind().chain).toBe(0)
  })
})

test('a ring whose memory is full drops its oldest blocks, and releases what it holds', () => {
  const memory = createBufferedBytes('chain', { most: Infinity, ownMost: 100_000 })
  const ring = createChainRing(memory)
  let last = createBlock(undefined)
  const toBlock = (): ChainBlock => ({
    ...(parseBlock(last.text) as ChainBlock),
    logs: [{ address: '0x', topics: [], text: 'a'.repeat(20_000) }],
  })
  for (let count = 0; count < 20; count += 1) {
    ring.extend(toBlock())
    expect(memory.held).toBeLessThanOrEqual(100_000)
    last = createBlock(last)
  }
  expect(ring.blocks.length).toBe(4)
  const oldest = ring.oldest() as ChainBlock
  const newest = ring.newest() as ChainBlock
  const logs = [{ address: '0x', topics: [], text: 'a'.repeat(50_000) }]
  expect(ring.setLogs(newest.hash, logs, oldest.number)).toBe(false)
  expect(ring.blocks.length).toBe(4)
  expect(ring.setLogs(newest.hash, logs, newest.number)).toBe(true)
  expect([ring.blocks.length, ring.find(oldest.hash)]).toEqual([3, undefined])
  ring.removeAbove(0)
  expect(memory.held).toBe(0)
  // It has the newest block even if that is larger than all of its memory.
  ring.extend({ ...toBlock(), logs: [{ address: '0x', topics: [], text: 'a'.repeat(200_000) }] })
  expect([ring.blocks.length, memory.held]).toEqual([1, 0])
  ring.clear()
  expect(memory.held).toBe(0)
})

test('whole transactions are read once for each hash, and delivered as they arrive', async () => {
  const { upstream, group } = await start()
  const responds: (() => void)[] = []
  upstream.behave = (call, response) => {
    const [given] = call.params as readonly string[]
    responds.push(() => void response.end(result(call, given === hash(1) ? 'null' : `{"hash":"${given}"}`)))
    return undefined
  }
  const read = createTransactionReader(() => group, limits)
  const readAll = (from: number, count: number): readonly string[] => {
    const found: string[] = []
    read(
      Array.from({ length: count }, (_, index) => hash(index + from)),
      (transaction, delivered) => {
        found.push(transaction)
        delivered()
      },
    )
    return found
  }
  const found = readAll(1, 3)
  const flood = readAll(10, 5_000)
  const rest = readAll(10_000, 100)
  await until(() => responds.length === 16)
  responds.splice(1, 1)[0]?.()
  await until(() => found.length === 1)
  const answer = setInterval(() => responds.splice(0).forEach((respond) => respond()), 1)
  onTestFinished(() => clearInterval(answer))
  // 13 of the flood were in flight when the rest was added.
  await until(() => found.length === 2 && flood.length === 4_096 && rest.length === 13)
  expect(found.toSorted()).toEqual([2, 3].map((value) => `{"hash":"${hash(value)}"}`))
  expect(upstream.bodies).toHaveLength(3 + 4_096 + 13)
})

test('only a few whole transactions are in memory before they are delivered', async () => {
  const { upstream, group } = await start()
  upstream.behave = (call) => result(call, `{"input":"0x${'00'.repeat(130_000)}"}`)
  const read = createTransactionReader(() => group, limits)
  const waiting: (() => void)[] = []
  let found = 0
  const hashes = Array.from({ length: 40 }, (_, index) => hash(index))
  read(hashes, (_, delivered) => {
    found += 1
    waiting.push(delivered)
  })
  await until(() => found === 16)
  for (let expected = 17; expected <= hashes.length; expected += 1) {
    expect(upstream.bodies).toHaveLength(expected - 1)
    waiting.shift()?.()
    await until(() => found === expected)
  }
})
