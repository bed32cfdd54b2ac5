import { afterEach, expect, test } from 'vitest'
import { getApiKeyUrl, createApiKey } from '../src/index.ts'
import type { GatewayOptions, LogEntry } from '../src/index.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** A gateway before a node that answers no `eth_call`, until it is let go, and all else at once. */
const start = async (limits: NonNullable<GatewayOptions['limits']> = {}) => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  const held: (() => void)[] = []
  let slow = true
  upstream.behave = (call, response) => {
    if (!slow || call.method !== 'eth_call') return result(call, '"0x1"')
    held.push(() => void response.end(result(call, '"0x2"')))
    return undefined
  }
  const started = await startGateway({ testnet: [upstream.url] }, { limits })
  toStop.push(upstream.stop, () => started.gateway.close({ graceMs: 0 }))
  const other = createApiKey('testnet')
  started.keys.add(other, { id: 'key-other', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  return {
    upstream,
    started,
    busy: getApiKeyUrl(started.url, 'testnet', started.testnetKey),
    other: getApiKeyUrl(started.url, 'testnet', other),
    letGo: (): void => {
      slow = false
      for (const answer of held.splice(0)) answer()
    },
  }
}

const call = (method: string, params: readonly unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const slowCall = (at: number): string => call('eth_call', [{ to: `0x${at.toString(16).padStart(40, '0')}` }, 'latest'])
const seen = async (upstream: FakeUpstream, count: number): Promise<unknown> =>
  expect.poll(() => upstream.bodies.length).toBe(count)

/** Nothing listens on the other network. */
const isIllNews = (entry: LogEntry): boolean =>
  entry.event === 'upstream' && entry.network === 'testnet' && entry.state === 'unreachable'

test('a key whose calls are slow keeps no other key waiting, and what it waits for is answered in the end', async () => {
  const { upstream, started, busy, other, letGo } = await start()
  const answers = Array.from({ length: 140 }, (_, at) => post(busy, slowCall(at)))
  await seen(upstream, 64)
  const [single, batch] = await Promise.all([
    post(other, call('eth_gasPrice')),
    post(other, `[${call('eth_gasPrice')},${call('eth_blockNumber')}]`),
  ])
  expect(single.text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  expect(JSON.parse(batch.text)).toHaveLength(2)
  expect(upstream.bodies.filter((body) => body.includes('eth_call'))).toHaveLength(64)
  letGo()
  const texts = (await Promise.all(answers)).map(({ text }) => text)
  expect(texts.filter((text) => /"result":"0x[12]"/.test(text))).toHaveLength(140)
  expect(started.entries.filter(isIllNews)).toEqual([])
})

test('nor do all keys of one user together, who has half of the connections and its answers in the end', async () => {
  const { upstream, started, other, letGo } = await start()
  const addresses = Array.from({ length: 4 }, (_, index) => {
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
  const answers = Array.from({ length: 160 }, (_, at) => post(addresses[at % 4] ?? '', slowCall(at)))
  await seen(upstream, 64)
  expect((await post(other, call('eth_gasPrice'))).text).toBe('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  expect(upstream.bodies.filter((body) => body.includes('eth_call'))).toHaveLength(64)
  letGo()
  const texts = (await Promise.all(answers)).map(({ text }) => text)
  expect(texts.filter((text) => /"result":"0x[12]"/.test(text))).toHaveLength(160)
})

test('a read that waits in one key’s line is not what another key’s same read waits for', async () => {
  const { upstream, busy, other, letGo } = await start()
  const answers = Array.from({ length: 64 }, (_, at) => post(busy, slowCall(at)))
  await seen(upstream, 64)
  const waiting = post(busy, call('eth_gasPrice'))
  const same = Array.from({ length: 5 }, async () => post(other, call('eth_gasPrice')))
  for (const { text } of await Promise.all(same)) expect(text).toContain('"result":"0x1"')
  letGo()
  expect((await waiting).text).toContain('"result":"0x1"')
  await Promise.all(answers)
})

test('what waits for a turn waits within its own time, and is told what became of it', async () => {
  const { upstream, started, busy } = await start({ upstreamTimeoutMs: 1_000 })
  const answers = Array.from({ length: 80 }, async (_, at) => post(busy, slowCall(at)))
  const found = (await Promise.all(answers)).map(({ text }) => /upstream_(?:busy|timeout)/.exec(text)?.[0])
  expect(found.filter((reason) => reason === 'upstream_timeout').length).toBeGreaterThanOrEqual(64)
  expect(found).not.toContain(undefined)
  expect(upstream.bodies.length).toBeGreaterThanOrEqual(64)
  expect(started.entries.filter(isIllNews)).toEqual([])
})

test('our own questions reach a node all of whose other connections are taken', async () => {
  const { upstream } = await start()
  const node = createUpstream(new URL(upstream.url))
  toStop.push(node.close)
  const ask = { budget: { left: 1_000 } }
  for (let at = 0; at < 140; at += 1) node.post({ ...ask, body: slowCall(at), done: () => {} })
  await seen(upstream, 128)
  const answered = await new Promise((resolve) => {
    node.post({ ...ask, body: call('eth_chainId'), probe: true, done: (_, answer) => resolve(answer?.status) })
  })
  expect(answered).toBe(200)
})
