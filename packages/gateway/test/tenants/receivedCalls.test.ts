import { once } from 'node:events'
import { request } from 'node:http'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { TestOptions } from '../createTestGateway.ts'
import { dayMs } from '../../src/lib/time.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import type { UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { Behaviour, FakeUpstream, SeenCall } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { chainIds, unreachableUrl, post } from '../startGateway.ts'
import { sqlite } from '../storage/databases.ts'
import { batch, call, noLimits, noon, summarize, openTenants } from './startTenants.ts'

/** For calls that time out. Others have 20 s, so that tests pass on a busy machine. */
const impatient = { bounds: { upstreamTimeoutMs: 150 } }

/** Each test has its own app in the same database. */
let storage: Storage
let apps = 0
beforeAll(async () => {
  storage = await openStorage(await sqlite.create())
})
afterAll(async () => {
  await storage.close()
  await sqlite.stop()
})

/** Checks that usage has what the quotas were charged, once all calls of a test have ended. */
const checks: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const check of checks.splice(0)) await check()
})

/** Starts a gateway with a real quota, in front of a node that the test controls. */
const start = async (options: Partial<TestOptions> = {}) => {
  apps += 1
  const appId = `app_${apps}`
  const quota = { id: `app:${appId}`, perDay: 1_000, perMonth: null }
  const usageLimits = createLocalLimits({ storage })
  onTestFinished(usageLimits.close)
  const started = await openTenants({ usageLimits, bounds: { upstreamTimeoutMs: 20_000 }, ...options })
  const key = started.addApp({ appId, limits: { ...noLimits, perDay: quota.perDay } })
  const used = async (): Promise<number> => (await usageLimits.usage(quota)).day.used
  checks.push(async () => {
    await started.upstream.stop()
    const name = `${getUtcDay(Date.now()).text} ${appId}`
    await expect.poll(async () => (started.meter.units[name] ?? 0) - (await used())).toBe(0)
  })
  return { ...started, path: key.path, used }
}

const hangs: Behaviour = () => undefined
const respondWith =
  (status: number, text: string): Behaviour =>
  (_, response) => {
    response.writeHead(status).end(text)
    return undefined
  }
const breaks: Behaviour = (_, response) => {
  response.destroy()
  return undefined
}

describe('a call that a node received counts', () => {
  test.each<[string, string, Behaviour, string]>([
    ['a read that times out', call('eth_gasPrice'), hangs, 'upstream_timeout'],
    ['an expensive read that times out', call('eth_getLogs', '[{}]'), hangs, 'upstream_timeout'],
    ['a transaction that times out', call('eth_sendRawTransaction', '["0x00"]'), hangs, 'upstream_timeout'],
    ['a filter whose creation times out', call('eth_newBlockFilter'), hangs, 'upstream_timeout'],
    ['a read whose connection breaks twice', call('eth_gasPrice'), breaks, 'upstream_bad'],
    ['a read with a 500 response', call('eth_gasPrice'), respondWith(500, 'oops'), 'upstream_bad'],
    ['a read with a 429 response', call('eth_gasPrice'), respondWith(429, ''), 'upstream_busy'],
    ['a read with a malformed response', call('eth_gasPrice'), respondWith(200, '{]'), 'upstream_bad'],
    ['a transaction with a 503 response', call('eth_sendRawTransaction'), respondWith(503, ''), 'upstream_busy'],
  ])('%s', async (_, body, behave, reason) => {
    const { path, upstream, used } = await start(behave === hangs ? impatient : {})
    // With a connection that is open, the call is sent before any time passes.
    await post(path, call('eth_blockNumber'))
    upstream.behave = behave
    expect(summarize(await post(path, body))).toMatchObject([expect.any(Number), reason])
    expect(await used()).toBe(2)
  })

  test('a user whose calls all fail at the node uses up the quota', async () => {
    const { addApp, upstream } = await start()
    const { path } = addApp({ appId: 'app_few', limits: { ...noLimits, perDay: 3 } })
    upstream.behave = breaks
    const ends = await Promise.all(
      Array.from({ length: 5 }, (_, index) => post(path, call('eth_getLogs', `[${index}]`))),
    )
    expect(ends.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([403, 403, 502, 502, 502])
    const last = await post(path, call('eth_gasPrice'))
    expect([last.status, last.headers.get('x-ratelimit-remaining-day')]).toEqual([403, '0'])
  })

  test('each call of a batch that times out', async () => {
    const { path, upstream, used } = await start(impatient)
    upstream.behave = hangs
    const methods = ['eth_gasPrice', 'eth_blockNumber', 'eth_getLogs', 'eth_sendRawTransaction', 'nope']
    expect(summarize(await post(path, batch(...methods)))).toEqual([
      200,
      'upstream_timeout',
      'upstream_timeout',
      'upstream_timeout',
      'upstream_timeout',
      'method_not_found',
    ])
    const received = methods.filter((method) => upstream.bodies.join().includes(`"${method}"`))
    expect(await used()).toBe(received.length)
    expect(received.length).toBeGreaterThan(0)
  })

  test('each of two equal reads in one batch, which the node receives once', async () => {
    const { path, upstream, used } = await start()
    upstream.behave = breaks
    await post(path, batch('eth_gasPrice', 'eth_gasPrice'))
    expect(await used()).toBe(2)
  })

  test.each([
    ['a call', call('eth_gasPrice'), 1],
    ['a batch of reads', batch('eth_gasPrice', 'eth_blockNumber', 'nope'), 2],
    ['a batch with a transaction', batch('eth_sendRawTransaction', 'eth_getLogs'), 2],
  ])('%s whose caller disconnects before the response', async (_, body, count) => {
    const { path, upstream, port, used, entries } = await start({ bounds: { upstreamTimeoutMs: 20_000 } })
    upstream.behave = hangs
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, body))
    const received = (): number => upstream.bodies.join().split('"method"').length - 1
    await expect.poll(received).toBe(count)
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    expect(await used()).toBe(count)
  })

  test('for each caller that waits for the same read, even if the first one disconnects', async () => {
    const { path, upstream, port, used, entries } = await start({ bounds: { upstreamTimeoutMs: 20_000 } })
    let respond = (): void => {}
    upstream.behave = (seen, response) => {
      respond = () => void response.end(result(seen, '1'))
      return undefined
    }
    const first = await openRaw(port)
    first.send(postBytes(new URL(path).pathname, call('eth_gasPrice')))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    const second = post(path, call('eth_gasPrice'))
    await expect.poll(used).toBe(2)
    first.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    respond()
    expect(summarize(await second)).toEqual([200, 1])
    expect([upstream.bodies.length, await used()]).toEqual([1, 2])
  })

  test('a large result that the node aborts or whose caller disconnects', async () => {
    const { path, upstream, used } = await start()
    const large = (seen: SeenCall): string => result(seen, `"${'x'.repeat(3_000_000)}"`)
    upstream.behave = (seen, response) => void response.write(large(seen).slice(0, -2), () => response.destroy())
    await post(path, call('eth_call')).catch(() => {})
    expect(await used()).toBe(1)
    const held: ServerResponse[] = []
    upstream.behave = (seen, response) => {
      held.push(response)
      return void response.write(large(seen).slice(0, -2))
    }
    const sent = request(path, { method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.end(call('eth_call'))
    await once(sent, 'response')
    sent.destroy()
    await expect.poll(() => held.every(({ destroyed }) => destroyed)).toBe(true)
    expect(await used()).toBe(2)
  })

  test('once, if the first node fails and the second is unreachable', async () => {
    const nodes: FakeUpstream[] = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
    const [first, second] = nodes as [FakeUpstream, FakeUpstream]
    onTestFinished(first.stop)
    const { path, used } = await start({
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams: [{ url: first.url }, { url: second.url }] },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
      },
    })
    first.behave = breaks
    await second.stop()
    expect(summarize(await post(path, call('eth_gasPrice')))).toEqual([502, 'upstream_bad'])
    expect([first.bodies.length, await used()]).toEqual([1, 1])
  })
})

describe('a call that no node received is returned', () => {
  test.each([
    ['a read', call('eth_gasPrice'), [503, 'no_upstream']],
    ['a transaction', call('eth_sendRawTransaction', '["0x00"]'), [503, 'no_upstream']],
    ['a batch', batch('eth_gasPrice', 'eth_sendRawTransaction', 'eth_getLogs'), [200, ...Array(3).fill('no_upstream')]],
  ])('%s without a node', async (_, body, expected) => {
    const { path, upstream, used } = await start()
    await upstream.stop()
    expect(summarize(await post(path, body))).toEqual(expected)
    expect(summarize(await post(path, body))).toEqual(expected)
    expect(await used()).toBe(0)
  })

  test('each call of a batch that is still queued at the timeout', async () => {
    const { path, upstream, used } = await start(impatient)
    upstream.behave = hangs
    const methods = Array.from({ length: 60 }, (_, index) => call('eth_getLogs', `[${index}]`, index))
    const [status, ...reasons] = summarize(await post(path, `[${methods.join(',')}]`)) as unknown[]
    expect([status, reasons.length]).toEqual([200, 60])
    // A health check may time out as well, and then there is no node for the queued calls.
    expect(['upstream_timeout', 'no_upstream']).toEqual(expect.arrayContaining(reasons))
    // 16 run at once. A few others may be sent at the last moment and are aborted before the node has read them.
    expect(await used()).toBeGreaterThanOrEqual(upstream.bodies.length)
    expect(await used()).toBeLessThan(40)
  })

  test('a queued call and batch whose callers disconnect', async () => {
    const { path, upstream, port, used, entries } = await start({ bounds: { upstreamTimeoutMs: 20_000 } })
    upstream.behave = hangs
    // One user has at most half of the 128 upstream requests.
    const busy = Array.from({ length: 64 }, (_, index) => call('eth_getLogs', `[${index}]`))
    const connections = await Promise.all(busy.map(() => openRaw(port)))
    const pathname = new URL(path).pathname
    for (const [index, body] of busy.entries()) connections[index]?.send(postBytes(pathname, body))
    await expect.poll(() => upstream.bodies.length).toBe(64)
    const waiting = [
      call('eth_gasPrice'),
      call('eth_getLogs', '["x"]'),
      batch('eth_gasPrice', 'eth_blockNumber', 'nope'),
    ]
    for (const body of waiting) {
      const connection = await openRaw(port)
      connection.send(postBytes(pathname, body))
      connections.push(connection)
    }
    await expect.poll(used).toBe(68)
    const countDisconnects = (): number => entries.filter(({ event }) => event === 'disconnected').length
    for (const connection of connections.splice(64)) connection.reset()
    await expect.poll(countDisconnects).toBe(3)
    expect(upstream.bodies).toHaveLength(64)
    // What is reserved for more calls counts as used while it is written.
    await expect.poll(used).toBe(64)
    for (const connection of connections) connection.reset()
    await expect.poll(countDisconnects).toBe(67)
    await expect.poll(used).toBe(64)
  })

  test('a transaction whose caller disconnects counts if it is sent later', async () => {
    const { path, upstream, port, used, entries } = await start({ bounds: { upstreamTimeoutMs: 20_000 } })
    upstream.behave = (seen) => (seen.method === 'eth_getLogs' ? undefined : result(seen, '"0x1"'))
    const pathname = new URL(path).pathname
    const busy = await Promise.all(Array.from({ length: 64 }, () => openRaw(port)))
    for (const [index, each] of busy.entries()) each.send(postBytes(pathname, call('eth_getLogs', `[${index}]`)))
    await expect.poll(() => upstream.bodies.length).toBe(64)
    for (const body of [
      call('eth_sendRawTransaction', '["0x01"]'),
      `[${call('eth_sendRawTransaction', '["0x02"]')}]`,
    ]) {
      const connection = await openRaw(port)
      connection.send(postBytes(pathname, body))
      busy.push(connection)
    }
    await expect.poll(used).toBe(66)
    for (const connection of busy.splice(64)) connection.reset()
    const countDisconnects = (): number => entries.filter(({ event }) => event === 'disconnected').length
    await expect.poll(countDisconnects).toBe(2)
    for (const connection of busy) connection.reset()
    await expect.poll(() => upstream.bodies.length).toBe(66)
    await expect.poll(used).toBe(66)
  })

  test('a transaction of a batch whose caller disconnects while it waits for a slot', async () => {
    const { path, upstream, port, used, entries, meter } = await start({ bounds: { upstreamTimeoutMs: 20_000 } })
    upstream.behave = hangs
    const pathname = new URL(path).pathname
    const busy = Array.from({ length: 64 }, (_, index) => post(path, call('eth_getLogs', `[${index}]`)))
    await expect.poll(() => upstream.bodies.length).toBe(64)
    const connection = await openRaw(port)
    connection.send(postBytes(pathname, batch('eth_sendRawTransaction', 'eth_gasPrice')))
    await expect.poll(used).toBe(66)
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    await expect.poll(used).toBe(65)
    // Whether the transaction is charged is not known yet.
    expect(meter.counted).toEqual([])
    await upstream.stop()
    await Promise.all(busy)
    await expect.poll(used).toBe(64)
    const outcomes = meter.counted.map((line) => line.split(' ').slice(2).join(' '))
    expect(new Set(outcomes)).toEqual(
      new Set(['eth_getLogs upstreamFailed', 'eth_sendRawTransaction disconnected', 'eth_gasPrice disconnected']),
    )
    expect(outcomes).toHaveLength(66)
  })

  test('not once its day has ended, so it is in the usage of that day', async () => {
    let time = noon + dayMs / 2 - 1
    const now = (): number => time
    const local = createLocalLimits({ now })
    onTestFinished(local.close)
    let grant = (): void => {}
    const usageLimits: UsageLimits = {
      ...local,
      take: async (request) => {
        const taken = await local.take(request)
        await new Promise<void>((resolve) => (grant = resolve))
        return taken
      },
    }
    const { addApp, port, meter, entries, upstream } = await openTenants({
      now,
      usageLimits,
      limits: { weights: { eth_call: 5 } },
    })
    const { path } = addApp({ appId: 'app_night', limits: { ...noLimits, perDay: 100 } })
    const quota = { id: 'app:app_night', perDay: 100, perMonth: null }
    const used = async (): Promise<number> => (await local.usage(quota)).day.used
    const leave = async (): Promise<void> => {
      const connection = await openRaw(port)
      grant = () => {}
      const unset = grant
      connection.send(postBytes(new URL(path).pathname, batch('eth_call', 'nope', 'eth_gasPrice')))
      await expect.poll(() => grant).not.toBe(unset)
      const countLeft = (): number => entries.filter(({ event }) => event === 'disconnected').length
      const left = countLeft()
      connection.reset()
      await expect.poll(countLeft).toBe(left + 1)
    }
    await leave()
    grant()
    await expect.poll(() => meter.counted.length).toBe(3)
    expect([await used(), meter.units]).toEqual([0, {}])
    await leave()
    expect(await used()).toBe(6)
    time += 1
    grant()
    await expect.poll(() => meter.counted.length).toBe(6)
    expect([await used(), meter.units]).toEqual([0, { '2026-11-21 app_night': 6 }])
    expect(upstream.bodies).toEqual([])
  })
})
