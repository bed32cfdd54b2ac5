import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import type { TestOptions } from './createTestGateway.ts'
import type { LogEntry } from '../src/proxy/log.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import { result } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { post } from './startGateway.ts'

afterEach(() => void vi.useRealTimers())

/** Starts a gateway in front of a node that responds to `eth_call` only after `release`, and to other calls at once. */
const start = async (bounds: NonNullable<TestOptions['bounds']> = {}) => {
  const { upstream, started } = await openGateway({ bounds })
  const held: (() => void)[] = []
  let slow = true
  upstream.behave = (call, response) => {
    if (!slow || call.method !== 'eth_call') return result(call, '"0x1"')
    held.push(() => void response.end(result(call, '"0x2"')))
    return undefined
  }
  const other = createApiKey('testnet')
  started.keys.add(other, { id: 'key-other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  return {
    upstream,
    started,
    busy: getApiKeyUrl(started.url, 'testnet', started.testnetKey),
    other: getApiKeyUrl(started.url, 'testnet', other),
    release: (): void => {
      slow = false
      for (const respond of held.splice(0)) respond()
    },
  }
}

const call = (method: string, params: readonly unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const slowCall = (index: number): string =>
  call('eth_call', [{ to: `0x${index.toString(16).padStart(40, '0')}` }, 'latest'])
const untilReceived = async (upstream: FakeUpstream, count: number): Promise<unknown> =>
  expect.poll(() => upstream.bodies.length).toBe(count)

/** On testnet only: mainnet has no node. */
const isUnreachable = (entry: LogEntry): boolean =>
  entry.event === 'upstream' && entry.network === 'testnet' && entry.state === 'unreachable'

test('a key with slow calls does not delay other keys, and all its calls complete', async () => {
  const { upstream, started, busy, other, release } = await start()
  const responses = Array.from({ length: 140 }, (_, at) => post(busy, slowCall(at)))
  await untilReceived(upstream, 64)
  const [single, batch] = await Promise.all([
    post(other, call('eth_gasPrice')),
    post(other, `[${call('eth_gasPrice')},${call('eth_blockNumber')}]`),
  ])
  expect(single.text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  expect(JSON.parse(batch.text)).toHaveLength(2)
  expect(upstream.bodies.filter((body) => body.includes('eth_call'))).toHaveLength(64)
  release()
  const texts = (await Promise.all(responses)).map(({ text }) => text)
  expect(texts.filter((text) => /"result":"0x[12]"/.test(text))).toHaveLength(140)
  expect(started.entries.filter(isUnreachable)).toEqual([])
})

test('all keys of one user together do not either: they get half of the connections, and all their calls complete', async () => {
  const { upstream, started, other, release } = await start()
  const rpcUrls = Array.from({ length: 4 }, (_, index) => {
    const key = createApiKey('testnet')
    started.keys.add(key, {
      id: `key-${index}`,
      kind: 'apiKey',
      networks: ['testnet'],
      status: 'active',
      userId: 'ann',
    })
    return getApiKeyUrl(started.url, 'testnet', key)
  })
  const responses = Array.from({ length: 160 }, (_, at) => post(rpcUrls[at % 4] ?? '', slowCall(at)))
  await untilReceived(upstream, 64)
  expect((await post(other, call('eth_gasPrice'))).text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  expect(upstream.bodies.filter((body) => body.includes('eth_call'))).toHaveLength(64)
  release()
  const texts = (await Promise.all(responses)).map(({ text }) => text)
  expect(texts.filter((text) => /"result":"0x[12]"/.test(text))).toHaveLength(160)
})

test("a read does not wait for an identical read in another key's queue", async () => {
  const { upstream, busy, other, release } = await start()
  const responses = Array.from({ length: 64 }, (_, at) => post(busy, slowCall(at)))
  await untilReceived(upstream, 64)
  const waiting = post(busy, call('eth_gasPrice'))
  const same = Array.from({ length: 5 }, async () => post(other, call('eth_gasPrice')))
  for (const { text } of await Promise.all(same)) expect(text).toContain('"result":"0x1"')
  release()
  expect((await waiting).text).toContain('"result":"0x1"')
  await Promise.all(responses)
})

test('a call in the queue waits within its timeout, and then gets its reason', async () => {
  const pass = controlTime()
  const { upstream, started, busy } = await start({ upstreamTimeoutMs: 1_000 })
  const responses = Promise.all(Array.from({ length: 80 }, async (_, at) => post(busy, slowCall(at))))
  let isOver = false
  void responses.then(() => (isOver = true))
  await until(() => {
    if (upstream.bodies.length >= 64) pass(10)
    return isOver
  })
  const reasons = (await responses).map(({ text }) => /upstream_(?:busy|timeout)/.exec(text)?.[0])
  expect(reasons.filter((reason) => reason === 'upstream_timeout').length).toBeGreaterThanOrEqual(64)
  expect(reasons).not.toContain(undefined)
  expect(upstream.bodies.length).toBeGreaterThanOrEqual(64)
  expect(started.entries.filter(isUnreachable)).toEqual([])
})

test('probes reach a node whose other connections are all in use', async () => {
  const { upstream } = await start()
  const node = createUpstream(new URL(upstream.url))
  onTestFinished(node.close)
  const budget = { left: 1_000 }
  for (let at = 0; at < 140; at += 1) node.post({ budget, body: slowCall(at), done: () => {} })
  await untilReceived(upstream, 128)
  const status = await new Promise((resolve) => {
    node.post({ budget, body: call('eth_chainId'), probe: true, done: (_, response) => resolve(response?.status) })
  })
  expect(status).toBe(200)
})
