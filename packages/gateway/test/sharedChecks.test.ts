import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import { createServerSecret } from '../src/lib/secrets/serverSecret.ts'
import { createSharedChecks } from '../src/storage/redis/createSharedChecks.ts'
import type { SharedChecks } from '../src/storage/redis/createSharedChecks.ts'
import type { RedisLink } from '../src/storage/redis/redisLink.ts'
import { controlTime, until } from './controlTime.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { startTcpProxy } from './startTcpProxy.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
beforeEach(() => {
  // Half a second more for those that did not send the last check, and 4.5 minutes until an own probe.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const secret = createServerSecret(randomBytes(32).toString('hex'))

/** A Redis in memory, on the stopped clock. */
const createFakeRedis = () => {
  const listeners = new Set<(message: string) => void>()
  const claims = new Map<string, number>()
  const state = { isLost: false }
  const set = async (key: string, _value: string, _px: 'PX', ms: number): Promise<'OK' | null> => {
    if (state.isLost) throw new Error('lost')
    if ((claims.get(key) ?? 0) > performance.now()) return null
    claims.set(key, performance.now() + ms)
    return 'OK'
  }
  const link = { client: { set }, isReady: () => !state.isLost } as unknown as RedisLink
  const published: string[] = []
  const publish = (message: string): void => {
    published.push(message)
    for (const listener of listeners) listener(message)
  }
  const openChecks = (): SharedChecks =>
    createSharedChecks({
      redis: link,
      secret,
      messages: {
        publish: (_, message) => {
          if (!state.isLost) publish(message)
        },
        subscribe: (_, listener) => void listeners.add(listener),
        isListening: () => !state.isLost,
        onListening: () => {},
        close: async () => {},
      },
    })
  return { state, claims, published, publish, openChecks }
}

/** Starts two nodes. The clock is stopped. */
const startNodes = async () => {
  const nodes = [await startFakeUpstream(chainIds.testnet), await startFakeUpstream(chainIds.testnet)]
  toStop.push(...nodes.map(({ stop }) => stop))
  const pass = controlTime()
  const count = (method: string) =>
    nodes.map(({ probes }) => probes.filter((queried) => queried === method).length).join(' ')
  return { nodes, pass, count }
}

/** Starts an instance. */
const startInstance = async (urls: readonly string[], checks: SharedChecks) => {
  const { gateway, keys, url } = await startGateway({ testnet: urls }, { checks })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= gateway.close({ graceMs: 0 }))
  toStop.push(close)
  const rpcUrls = Array.from({ length: 5 }, (_, index) => {
    const key = createApiKey('testnet')
    keys.add(key, { id: `key-${index}`, kind: 'apiKey', networks: ['testnet'], status: 'active' })
    return getApiKeyUrl(url, 'testnet', key)
  })
  let calls = 0
  const read = <T>(get: (state: ReturnType<typeof gateway.upstreams>[number]) => T): string =>
    gateway
      .upstreams()
      .flatMap((state) => (state.network === 'testnet' ? [get(state)] : []))
      .join(' ')
  return {
    url,
    close,
    heads: () => read(({ head }) => head),
    statuses: () => read(({ status }) => status),
    latencies: () => read(({ latencyMs }) => latencyMs),
    send: () => {
      calls += 1
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [calls] })
      return post(rpcUrls[calls % 5] ?? '', body)
    },
  }
}
type Instance = Awaited<ReturnType<typeof startInstance>>

const getUrls = (nodes: readonly FakeUpstream[]): string[] => nodes.map(({ url }) => url)

/** Starts two instances. The second one has sent the last check. */
const startTwo = async () => {
  const started = await startNodes()
  const redis = createFakeRedis()
  const first = await startInstance(getUrls(started.nodes), redis.openChecks())
  const second = await startInstance(getUrls(started.nodes), redis.openChecks())
  /** Waits until each node was sent these numbers of probes and of queries of its head, and no more. */
  const untilChecks = async (each: number, instances: readonly Instance[] = [first, second]) => {
    const expected = `${each} ${each}`
    await until(() => started.count('eth_chainId') === expected && started.count('eth_blockNumber') === expected)
    // The responses are in the sockets of this process. When a later request is complete, they have been read.
    for (const { url } of instances) await fetch(`${url}/healthz`)
    expect([started.count('eth_chainId'), started.count('eth_blockNumber')]).toEqual([expected, expected])
  }
  // Each instance checks the nodes itself when it starts.
  await untilChecks(2)
  return { ...started, redis, first, second, untilChecks }
}

describe('two instances', () => {
  test('send each node one check every 5 seconds together, and both learn what it responds', async () => {
    const { nodes, pass, first, second, untilChecks, count } = await startTwo()
    for (let round = 1; round <= 11; round += 1) {
      for (const node of nodes) node.head += 1
      pass(5_000)
      await untilChecks(2 + round)
      const heads = nodes.map(({ head }) => head).join(' ')
      await until(() => first.heads() === heads && second.heads() === heads)
    }
    // Once at the start of each, and every 30 seconds.
    expect(count('eth_syncing')).toBe('3 3')
  })

  test('both see a node that lags, that syncs, and that works again', async () => {
    const { nodes, pass, first, second, untilChecks } = await startTwo()
    const [one, other] = nodes as [FakeUpstream, FakeUpstream]
    let checks = 2
    const untilStatus = async (status: string): Promise<void> => {
      pass(5_000)
      await untilChecks((checks += 1))
      await until(() => [first, second].every(({ statuses }) => statuses() === `${status} healthy`))
    }
    other.head += 100
    await untilStatus('lagging')
    one.head = other.head
    await untilStatus('healthy')
    one.syncing = true
    // The nodes are queried every 30 seconds.
    for (let seconds = 15; seconds < 30; seconds += 5) await untilStatus('healthy')
    await untilStatus('syncing')
    one.syncing = false
    await untilStatus('healthy')
  })

  test('both see a node that fails, and only successes are shared', async () => {
    const { nodes, pass, first, second } = await startTwo()
    const [one] = nodes as [FakeUpstream]
    one.chainId = 1
    pass(5_000)
    await until(() => second.statuses() === 'wrongChain healthy')
    expect(first.statuses()).toBe('healthy healthy')
    // Its own check is due after half a second, and the claim of the other one counts for one more.
    pass(500)
    pass(1_000)
    await until(() => first.statuses() === 'wrongChain healthy')
    one.chainId = chainIds.testnet
    pass(2_000)
    await until(() => [first, second].every(({ statuses }) => statuses() === 'healthy healthy'))
  })

  test('results that no node can have change neither latencies nor heads, and make no instance query a node', async () => {
    const { pass, redis, first, second, untilChecks } = await startTwo()
    pass(5_000)
    await untilChecks(3)
    const read = () => [first, second].map(({ heads, latencies }) => [heads(), latencies()])
    const before = read()
    for (const message of redis.published.slice(-3)) {
      const [, id, result] = JSON.parse(message) as [string, string, number | [string, number][]]
      const heads = Array.isArray(result) ? JSON.stringify(result.map(([node]) => [node, -1])) : '-1'
      for (const impossible of [heads, '1e999', '1e300', '"1"']) redis.publish(`["another","${id}",${impossible}]`)
    }
    await untilChecks(3)
    expect(read()).toEqual(before)
  })

  test('if the one that sends the checks ends, the other one sends them', async () => {
    const { pass, first, second, untilChecks } = await startTwo()
    pass(5_000)
    await untilChecks(3)
    await second.close()
    pass(5_500)
    await untilChecks(4, [first])
    pass(5_000)
    await untilChecks(5, [first])
    expect(first.statuses()).toBe('healthy healthy')
  })

  test('if the one that claimed a check is killed, the other one sends it a second later', async () => {
    const { pass, redis, first, second, untilChecks } = await startTwo()
    pass(5_000)
    await untilChecks(3)
    await second.close()
    pass(5_000)
    // It claimed them, and never published a result.
    for (const key of redis.claims.keys()) redis.claims.set(key, performance.now() + 3_000)
    pass(500)
    await untilChecks(3, [first])
    pass(1_000)
    await untilChecks(4, [first])
    expect(first.statuses()).toBe('healthy healthy')
  })

  test('while Redis is lost, each checks the nodes itself', async () => {
    const { nodes, pass, redis, first, second, untilChecks } = await startTwo()
    redis.state.isLost = true
    for (let round = 1; round <= 3; round += 1) {
      for (const node of nodes) node.head += 1
      pass(5_000)
      pass(500)
      await untilChecks(2 + 2 * round)
      expect([first.heads(), second.heads()]).toEqual(
        Array.from({ length: 2 }, () => nodes.map(({ head }) => head).join(' ')),
      )
    }
    redis.state.isLost = false
    pass(5_000)
    await untilChecks(9)
    pass(5_000)
    await untilChecks(10)
  })

  test('an instance that sends no calls probes each node itself every 5 minutes', async () => {
    const { pass, count, first, second } = await startTwo()
    const untilProbes = async (each: number): Promise<void> => {
      await until(() => count('eth_chainId') === `${each} ${each}`)
      for (const { url } of [first, second]) await fetch(`${url}/healthz`)
      expect(count('eth_chainId')).toBe(`${each} ${each}`)
    }
    for (let round = 1; round <= 12; round += 1) {
      pass(5_000)
      await untilProbes(2 + round)
    }
    // The network is idle now.
    for (let minute = 1; minute <= 3; minute += 1) {
      pass(60_000)
      await untilProbes(14 + minute)
    }
    pass(60_000)
    await untilProbes(18)
    pass(500)
    await untilProbes(19)
  })

  test('a call after an idle minute makes an instance check the nodes, unless another one just has', async () => {
    const { pass, first, second, untilChecks } = await startTwo()
    for (let round = 1; round <= 12; round += 1) {
      pass(5_000)
      await untilChecks(2 + round)
    }
    pass(20_000)
    await first.send()
    await untilChecks(15)
    expect((await second.send()).status).toBe(200)
    await untilChecks(15)
  })
})

test('an instance that alone cannot reach a node trusts its own checks until it can', async () => {
  const { nodes, pass } = await startNodes()
  const [one, other] = nodes as [FakeUpstream, FakeUpstream]
  const way = await startTcpProxy(Number(new URL(one.url).port))
  toStop.push(way.close)
  const { port } = new URL(one.url)
  const redis = createFakeRedis()
  const checks = redis.openChecks()
  // The same URL for both, as if their networks differed.
  const overLink: SharedChecks = {
    ...checks,
    join: (name, onResult) => checks.join(name.replace(String(way.port), port), onResult),
  }
  const cutOff = await startInstance([one.url.replace(port, String(way.port)), other.url], overLink)
  const connected = await startInstance(getUrls(nodes), redis.openChecks())
  /** Lets time pass until it is true. All sockets are in this process, so what is in flight arrives while a request is served. */
  const passUntil = async (condition: () => boolean): Promise<void> => {
    for (let step = 0; !condition(); step += 1) {
      if (step === 1_000) throw new Error(`Still not true: ${String(condition)}`)
      pass(500)
      for (const { url } of [cutOff, connected]) await fetch(`${url}/healthz`)
    }
  }
  way.cut()
  // Calls of its own users fail: the circuit breaker opens although the other instance publishes that the node works.
  for (let call = 0; call < 5; call += 1) expect((await cutOff.send()).status).toBe(200)
  expect([cutOff.statuses(), connected.statuses()]).toEqual(['failing healthy', 'healthy healthy'])

  // So do its own probes, while the other instance continues.
  await passUntil(() => cutOff.statuses() === 'unreachable healthy')
  expect(connected.statuses()).toBe('healthy healthy')
  // Its way to the other node may be broken too: it trusts nothing that it does not see itself.
  await passUntil(() => !checks.isTrusted())

  way.fix()
  await passUntil(() => cutOff.statuses() === 'failing healthy')
  expect(checks.isTrusted()).toBe(true)
  expect((await cutOff.send()).status).toBe(200)
  expect(cutOff.statuses()).toBe('healthy healthy')
})
