import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defaultNodeSourceTimes } from '../../src/proxy/subscription/node/createNodeSource.ts'
import { byDefault, startScriptedNode } from './scriptedNode.ts'
import type { ScriptedNode } from './scriptedNode.ts'
import { startNodeSource } from './startNodeSource.ts'

const startNode = async (): Promise<ScriptedNode> => {
  const node = await startScriptedNode()
  onTestFinished(node.stop)
  return node
}
const hash = (): string => `0x${randomBytes(32).toString('hex')}`
const healthChecks = new Set(['eth_chainId', 'eth_syncing', 'eth_blockNumber', 'eth_getBalance'])
/** The calls over HTTP besides health checks. */
const httpCalls = ({ calls }: ScriptedNode): string[] =>
  calls.filter(({ via, method }) => via === 'http' && !healthChecks.has(method)).map(({ method }) => method)
const wsCalls = ({ calls }: ScriptedNode): string[] =>
  calls.flatMap(({ via, method, params }) => (via === 'ws' ? [[method, ...params].join(' ')] : []))
const subscribes = (node: ScriptedNode, topic: string): number =>
  wsCalls(node).filter((call) => call === `eth_subscribe ${topic}`).length

test('without a listener, nothing is opened and nothing is polled', async () => {
  const node = await startNode()
  const { source } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }])
  await wait(100)
  expect([node.handshakes.length, httpCalls(node)]).toEqual([0, []])
  const stop = source.onHead(() => {})
  await expect.poll(() => subscribes(node, 'newHeads')).toBe(1)
  stop()
  await expect.poll(node.open).toBe(0)
  await wait(100)
  expect([node.handshakes.length, httpCalls(node)]).toEqual([1, []])
})

test('one connection serves all listeners, and only what is listened to is subscribed', async () => {
  const node = await startNode()
  const { source } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }])
  const heads = [vi.fn<() => void>(), vi.fn<() => void>()]
  for (const listener of heads) source.onHead(listener)
  await expect.poll(() => subscribes(node, 'newHeads')).toBe(1)
  const pending = vi.fn<(hashes: readonly string[]) => void>()
  const stopPending = source.onPendingTransactions(pending)
  await expect.poll(() => subscribes(node, 'newPendingTransactions')).toBe(1)
  const one = hash()
  await expect
    .poll(() => {
      node.notify('newHeads', {})
      node.notify('newPendingTransactions', one)
      return [...heads, pending].every((listener) => listener.mock.calls.length > 0)
    })
    .toBe(true)
  stopPending()
  await expect.poll(() => wsCalls(node).at(-1)).toMatch(/^eth_unsubscribe 0x2$/)
  expect(pending.mock.calls).toEqual([[[one]]])
  expect([node.handshakes.length, node.open()]).toEqual([1, 1])
})

test('the handshake has the headers of the upstream, and the user and password of its URL', async () => {
  const node = await startNode()
  const wsUrl = `${node.wsUrl.replace('//', '//us%20er:pass@')}/ws/v3/key?token=1`
  const { source } = await startNodeSource([{ url: node.url, wsUrl, headers: { 'X-Api-Key': 'hunter22' } }])
  source.onHead(() => {})
  await expect.poll(() => node.handshakes.length).toBe(1)
  expect(node.handshakes[0]).toMatchObject({
    url: '/ws/v3/key?token=1',
    headers: { 'x-api-key': 'hunter22', authorization: `Basic ${Buffer.from('us er:pass').toString('base64')}` },
  })
  // Nodes such as geth reject a foreign origin.
  expect(node.handshakes[0]?.headers.origin).toBeUndefined()
})

test('a transaction that several nodes report is delivered once, and a value that is not a hash never', async () => {
  const nodes = [await startNode(), await startNode()]
  const { source } = await startNodeSource(nodes.map(({ url, wsUrl }) => ({ url, wsUrl })))
  const delivered: string[] = []
  source.onPendingTransactions((hashes) => void delivered.push(...hashes))
  const hashes = Array.from({ length: 5 }, hash)
  for (const node of nodes) {
    await expect.poll(() => subscribes(node, 'newPendingTransactions')).toBe(1)
    for (const bad of [null, '0x12', { hash: hashes[0] }, [hashes[0]], `${hashes[0]}00`, 7, undefined])
      node.notify('newPendingTransactions', bad)
    for (const one of hashes)
      node.notify(
        'newPendingTransactions',
        one.replace(/[a-f]/g, (char) => char.toUpperCase()),
      )
  }
  await expect.poll(() => delivered.length).toBe(5)
  await wait(50)
  expect(delivered).toEqual(hashes)
})

const breakSocket: Readonly<Record<string, (node: ScriptedNode) => void>> = {
  'is cut': (node) => node.cut(),
  'sends something that is not JSON': (node) => node.send('<html>'),
  'sends JSON that is no object': (node) => node.send('null'),
  'sends a binary message': (node) => node.send(Buffer.from([0x82, 1, 0x7b])),
  'sends a frame that is not valid': (node) => node.send(Buffer.from([0xff, 0xff, 0xff])),
  'sends a message that is too large': (node) => node.send(`"${'x'.repeat(1_100_000)}"`),
  'closes the connection': (node) => node.send(Buffer.from([0x88, 0])),
  'does not respond any more': (node) => {
    node.respond = () => {
      // Until the next connection.
      if (node.handshakes.length > 1) node.respond = () => byDefault
      return node.handshakes.length > 1 ? byDefault : undefined
    }
  },
}

test.each(Object.entries(breakSocket))('a node that %s is connected and subscribed again', async (fault, act) => {
  const node = await startNode()
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }], {
    silenceMs: 200,
    ...(fault === 'does not respond any more' ? { timeoutMs: 3_000 } : {}),
  })
  const onHead = vi.fn<() => void>()
  source.onHead(onHead)
  await expect.poll(() => subscribes(node, 'newHeads')).toBe(1)
  act(node)
  await expect.poll(() => subscribes(node, 'newHeads')).toBe(2)
  await expect
    .poll(() => {
      node.notify('newHeads', {})
      return onHead.mock.calls.length
    })
    .toBeGreaterThan(0)
  expect([node.open(), states()]).toEqual([1, ['connected', 'lost', 'connected']])
})

test('a silent node is sent a request, and stays connected if it responds', async () => {
  const node = await startNode()
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }], { silenceMs: 30 })
  source.onHead(() => {})
  await expect.poll(() => wsCalls(node).filter((call) => call === 'eth_chainId').length).toBeGreaterThan(3)
  expect([node.handshakes.length, states()]).toEqual([1, ['connected']])
  expect(defaultNodeSourceTimes.silenceMs + defaultNodeSourceTimes.timeoutMs).toBeLessThan(30_000)
})

test('a node whose responses have another id is not used', async () => {
  const node = await startNode()
  node.respond = ({ via }) => (via === 'ws' ? { text: '{"jsonrpc":"2.0","id":99,"result":"0x7a69"}' } : byDefault)
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }], { timeoutMs: 50 })
  source.onHead(() => {})
  await expect.poll(() => node.handshakes.length).toBeGreaterThan(1)
  expect([subscribes(node, 'newHeads'), states()]).toEqual([0, ['lost']])
})

test('a node of another chain is not subscribed to', async () => {
  const node = await startNode()
  node.respond = ({ via }) => (via === 'ws' ? '0x1' : byDefault)
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }])
  source.onHead(() => {})
  await expect.poll(() => node.handshakes.length).toBeGreaterThan(1)
  expect([subscribes(node, 'newHeads'), states()]).toEqual([0, ['wrongChain']])
})

test('notifications of unknown subscriptions and malformed ones are ignored', async () => {
  const node = await startNode()
  const { source, states } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }])
  const onHead = vi.fn<() => void>()
  source.onHead(onHead)
  await expect.poll(() => subscribes(node, 'newHeads')).toBe(1)
  for (const params of ['{"subscription":"0x77","result":{}}', 'null', '{}', '[]', '{"subscription":["0x1"]}'])
    node.send(`{"jsonrpc":"2.0","method":"eth_subscription","params":${params}}`)
  for (const text of ['{}', '[]', '{"id":null}', '{"id":"1","result":1}', '{"method":"eth_subscription"}'])
    node.send(text)
  await wait(50)
  expect([onHead.mock.calls.length, states()]).toEqual([0, ['connected']])
  node.notify('newHeads', {})
  await expect.poll(() => onHead.mock.calls.length).toBe(1)
})

test('while no socket delivers pending transactions, a filter is polled, and removed afterwards', async () => {
  const node = await startNode()
  const delivered: string[] = []
  let isRejected = true
  const one = hash()
  node.respond = ({ via, method, params, id }) => {
    if (method === 'eth_getFilterChanges') return [one, 'garbage', null]
    if (isRejected && via === 'ws' && method === 'eth_subscribe' && params[0] === 'newPendingTransactions')
      return { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no"}}` }
    return byDefault
  }
  const { source } = await startNodeSource([{ url: node.url, wsUrl: node.wsUrl }])
  source.onPendingTransactions((hashes) => void delivered.push(...hashes))
  await expect.poll(() => delivered).toEqual([one])
  isRejected = false
  node.cut()
  await expect.poll(() => httpCalls(node)).toContain('eth_uninstallFilter')
  await wait(100)
  // On a busy machine the socket may be lost again, and a new filter is created.
  expect(httpCalls(node).join(' ')).not.toContain('eth_uninstallFilter eth_getFilterChanges')
  expect(delivered).toEqual([one])
})

test('a filter that its node forgets is created again, and one of a node that fails on another node', async () => {
  const nodes = [await startNode(), await startNode()] as const
  const { source } = await startNodeSource(nodes.map(({ url }) => ({ url })))
  const stop = source.onPendingTransactions(() => {})
  const [first, second] = nodes
  await expect.poll(() => httpCalls(first)).toContain('eth_getFilterChanges')
  expect(httpCalls(second)).toEqual([])
  const notFound = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"filter not found"}}'
  first.respond = ({ method }) => (method === 'eth_getFilterChanges' ? { text: notFound } : byDefault)
  await expect.poll(() => httpCalls(second)).toContain('eth_getFilterChanges')
  second.respond = ({ method }) => (method.endsWith('Filter') ? byDefault : { text: notFound })
  first.respond = () => byDefault
  const before = httpCalls(first).length
  await expect.poll(() => httpCalls(first).slice(before)).toContain('eth_getFilterChanges')
  stop()
  await expect.poll(() => httpCalls(first).at(-1)).toBe('eth_uninstallFilter')
})

test('a filter of a node that is not healthy any more is removed, and another node has one', async () => {
  const nodes = [await startNode(), await startNode()] as const
  const { source, group } = await startNodeSource(nodes.map(({ url }) => ({ url })))
  source.onPendingTransactions(() => {})
  const [first, second] = nodes
  await expect.poll(() => httpCalls(first)).toContain('eth_getFilterChanges')
  const member = group.pick()
  if (member === undefined) throw new Error('no node')
  vi.spyOn(member.health, 'isHealthy').mockReturnValue(false)
  await expect.poll(() => httpCalls(second)).toContain('eth_getFilterChanges')
  await expect.poll(() => httpCalls(first).at(-1)).toBe('eth_uninstallFilter')
})

test('reports when the node starts and ends to sync, and not its progress', async () => {
  const node = await startNode()
  let syncing: unknown = false
  let polls = 0
  node.respond = ({ method }) => {
    if (method !== 'eth_syncing') return byDefault
    polls += 1
    return syncing
  }
  const { source } = await startNodeSource([{ url: node.url }])
  const statuses: string[] = []
  const stop = source.onSyncing((status) => void statuses.push(status))
  const poll = async (): Promise<void> => {
    const before = polls
    await expect.poll(() => polls).toBeGreaterThan(before + 1)
  }
  await poll()
  expect(statuses).toEqual([])
  for (const block of ['0x1', '0x2', '0x3']) {
    syncing = { currentBlock: block }
    await poll()
  }
  for (const garbage of ['yes', 1, [], null, { text: '{"jsonrpc":"2.0","id":1,"error":{"code":1}}' }]) {
    syncing = garbage
    await poll()
  }
  syncing = false
  await poll()
  expect(statuses).toEqual(['{"currentBlock":"0x1"}', 'false'])
  stop()
  const before = polls
  await wait(100)
  expect(polls).toBeLessThanOrEqual(before + 1)
})

test('the log has no part of the WebSocket URL or its headers, in any failure', async () => {
  const secrets = Array.from({ length: 4 }, () => randomBytes(18).toString('hex')) as [string, string, string, string]
  const [user, password, path, header] = secrets
  const node = await startNode()
  const printed: unknown[] = []
  const record = (...args: unknown[]): void => void printed.push(...args.map(String))
  for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(record)
  process.on('warning', record)
  onTestFinished(() => {
    vi.restoreAllMocks()
    process.off('warning', record)
  })
  const hosts = [node.wsUrl, 'ws://127.0.0.1:9', 'wss://127.0.0.1:9', node.wsUrl.replace('ws:', 'wss:')]
  const { source, entries, states } = await startNodeSource(
    hosts.map((host, index) => ({
      url: node.url,
      name: `node-${index}`,
      wsUrl: `${host.replace('//', `//${user}:${password}@`)}/${path}`,
      headers: { 'x-api-key': header },
    })),
  )
  source.onHead(() => {})
  await expect.poll(() => states().length).toBe(4)
  node.send(`{"error":"${path}"`)
  await expect.poll(() => states().length).toBeGreaterThan(5)
  const seen = JSON.stringify([entries, printed])
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([])
  expect(node.handshakes[0]?.url).toContain(path)
})
