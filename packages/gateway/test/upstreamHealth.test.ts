import { afterEach, describe, expect, test, vi } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import type { TestOptions } from './createTestGateway.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const startFake = async (behave?: Behaviour): Promise<FakeUpstream> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  toStop.push(upstream.stop)
  return behave === undefined ? upstream : Object.assign(upstream, { behave })
}
interface Started extends StartedGateway {
  /** Sends a call with one of five keys of different owners in turn, or always with the first. */
  readonly send: (method?: string, firstOnly?: boolean) => Promise<{ status: number; text: string }>
  readonly states: () => string[]
}
const start = async (
  upstreams: readonly FakeUpstream[],
  network: { maxLagBlocks?: number; hedgeMs?: number } = {},
  bounds: NonNullable<TestOptions['bounds']> = {},
): Promise<Started> => {
  const none = { chainId: chainIds.mainnet, upstreams: [{ url: 'http://127.0.0.1:9' }] }
  const testnet = { chainId: chainIds.testnet, upstreams: upstreams.map(({ url }) => ({ url })), ...network }
  const started = await startGateway({ testnet: [] }, { networks: { testnet, mainnet: none }, bounds })
  toStop.push(() => started.gateway.close({ graceMs: 0 }))
  const rpcUrls = Array.from({ length: 5 }, (_, index) => {
    const key = createApiKey('testnet')
    started.keys.add(key, { id: `key-${index}`, kind: 'apiKey', networks: ['testnet'], status: 'active' })
    return getApiKeyUrl(started.url, 'testnet', key)
  })
  let calls = 0
  return {
    ...started,
    send: (method = 'eth_call', firstOnly = false) => {
      calls += 1
      const rpcUrl = rpcUrls[firstOnly ? 0 : calls % rpcUrls.length] ?? ''
      return post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [calls] }))
    },
    states: () =>
      started.entries.flatMap((entry) =>
        entry.event === 'upstream' && entry.network === 'testnet' ? [`${entry.upstream} ${entry.state}`] : [],
      ),
  }
}
const getCounts = (upstreams: readonly FakeUpstream[]): number[] => upstreams.map(({ bodies }) => bodies.length)
const hang: Behaviour = () => undefined
const fail: Behaviour = (_, response) => {
  response.statusCode = 500
  return 'broken'
}
/** Holds an upstream's responses back. @returns A function that ends each of them with `behave`, by default with a result. */
const hold = (upstream: FakeUpstream, behave: Behaviour = (call) => result(call, '"held"')): (() => void) => {
  const held: (() => void)[] = []
  upstream.behave = (call, response) =>
    void held.push(() => {
      const text = behave(call, response)
      if (text !== undefined) response.end(text)
    })
  return () => {
    for (const release of held.splice(0)) release()
  }
}
/** Waits until each upstream has received a number of requests. */
const untilCounts = (upstreams: readonly FakeUpstream[], counts: readonly number[]) =>
  until(() => String(getCounts(upstreams)) === String(counts))

describe('an upstream that is behind', () => {
  test.each([
    [9, undefined, [0, 1]],
    [8, undefined, [1, 0]],
    [3, 2, [0, 1]],
  ])('by %i blocks, with maxLagBlocks %s: %o', async (blocks, maxLagBlocks, counts) => {
    const [first, second] = [await startFake(), await startFake()]
    first.head = second.head - blocks
    const { send } = await start([first, second], maxLagBlocks === undefined ? {} : { maxLagBlocks })
    expect((await send()).status).toBe(200)
    expect(getCounts([first, second])).toEqual(counts)
  })

  test('is used again once it has caught up, which is logged', async () => {
    const [first, second] = [await startFake(), await startFake()]
    first.head = 1
    const pass = controlTime()
    const { send, states } = await start([first, second])
    await send()
    first.head = second.head
    pass(5_000)
    await until(() => states().at(-1) === 'testnet-1 caughtUp')
    await send()
    expect(getCounts([first, second])).toEqual([1, 1])
    expect(states()).toEqual(['testnet-1 healthy', 'testnet-2 healthy', 'testnet-1 lagging', 'testnet-1 caughtUp'])
  })

  test('is used if no other is left', async () => {
    const [first, second] = [await startFake(), await startFake()]
    first.head = 1
    const { send } = await start([first, second])
    await second.stop()
    expect((await send()).status).toBe(200)
    expect(getCounts([first, second])).toEqual([1, 0])
  })
})

describe('an upstream whose head is far above the others', () => {
  const wrong = 100 + 30_000_000
  const byHead =
    (upstream: FakeUpstream, name: string): Behaviour =>
    (call) =>
      result(call, call.method === 'eth_blockNumber' ? `"0x${upstream.head.toString(16)}"` : `"${name}"`)
  const startNodes = async (count: number, network = {}) => {
    const nodes: FakeUpstream[] = []
    for (let index = 0; index < count; index += 1) {
      const node = await startFake()
      node.behave = byHead(node, 'abc'[index] ?? '')
      nodes.push(node)
    }
    const pass = controlTime()
    const started = await start(nodes, network)
    const last = nodes.at(-1) as FakeUpstream
    /** Lets the heads be compared again. */
    const compare = async (): Promise<void> => {
      const counts = nodes.map(({ probes }) => probes.filter((method) => method === 'eth_blockNumber').length)
      pass(5_000)
      await until(() =>
        nodes.every(
          ({ probes }, index) => probes.filter((method) => method === 'eth_blockNumber').length > (counts[index] ?? 0),
        ),
      )
      await started.send('eth_gasPrice')
    }
    return { ...started, nodes, last, compare, pass }
  }

  test.each([2, 3])('of %i does not take the traffic, and its block is not what callers have seen', async (count) => {
    const { send, last, compare, states, nodes } = await startNodes(count)
    await send()
    last.head = wrong
    await compare()
    await compare()
    await until(() => states().includes(`testnet-${count} lagging`))
    expect((await send()).text).toContain('"a"')
    expect((await send('eth_blockNumber', true)).text).toContain('"0x64"')
    // The others fail, so that the wrong one is asked.
    const behave = nodes.slice(0, -1).map((node) => node.behave)
    for (const node of nodes.slice(0, -1)) node.behave = fail
    expect((await send('eth_blockNumber', true)).text).toContain('"0x64"')
    for (const [index, node] of nodes.slice(0, -1).entries()) node.behave = behave[index] ?? fail
    last.head = 100
    await compare()
    expect((await send('eth_blockNumber', true)).text).toContain('"0x64"')
  })

  test('is that of the chain if there is no other', async () => {
    const { send, last, states, pass, gateway } = await startNodes(1)
    await send()
    last.head = wrong
    pass(30_000)
    await until(() => gateway.upstreams()[0]?.head === wrong || states().length > 1)
    expect((await send('eth_blockNumber', true)).text).toContain(`"0x${wrong.toString(16)}"`)
    expect(states()).toEqual(['testnet-1 healthy'])
  })

  test('is found by a call, too', async () => {
    const { send, last, states } = await startNodes(3, { loadBalancing: 'order' })
    last.head = wrong
    const { text } = await send('eth_blockNumber', true)
    expect(text).toContain('"0x64"')
    expect(states()).not.toContain('testnet-1 lagging')
  })
})

describe('an upstream that fails', () => {
  test('five times gets only one call a second, which finds out if it works again', async () => {
    const pass = controlTime()
    const [first, second] = [await startFake(fail), await startFake()]
    const { send, states } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await send()).status).toBe(200)
    expect(getCounts([first, second])).toEqual([5, 20])
    pass(999)
    first.behave = (call) => result(call, '"back"')
    expect((await send()).text).not.toContain('back')
    // The node works again, which the next trial finds out.
    pass(1)
    expect((await send()).text).toContain('back')
    expect(states().slice(2)).toEqual(['testnet-1 failing', 'testnet-1 recovered'])
    second.bodies.length = 0
    for (let call = 0; call < 5; call += 1) await send()
    expect(second.bodies.length).toBe(0)
  })

  test('is used if there is no other', async () => {
    const upstream = await startFake(fail)
    const { send } = await start([upstream])
    for (let call = 0; call < 12; call += 1) expect((await send()).status).toBe(502)
    upstream.behave = (call) => result(call, '1')
    expect((await send()).status).toBe(200)
  })

  // 15.31
  test('gets a trial a second after one blip, even if many calls were in flight when it started', async () => {
    const pass = controlTime()
    const [first, second] = [await startFake(), await startFake()]
    const release = hold(first, fail)
    const { send, states } = await start([first, second])
    const pending = Array.from({ length: 40 }, () => send())
    await untilCounts([first], [40])
    first.behave = (call) => result(call, '"back"')
    release()
    for (const { status } of await Promise.all(pending)) expect(status).toBe(200)
    expect(states().slice(2)).toEqual(['testnet-1 failing'])
    // Each of the 35 later failures used to double the wait, up to 30 s.
    pass(1_000)
    expect((await send()).text).toContain('back')
  })

  test('with 429 has no effect on callers while there is another one', async () => {
    const busy: Behaviour = (_, response) => {
      response.statusCode = 429
      return 'slow down'
    }
    controlTime()
    const [first, second] = [await startFake(busy), await startFake()]
    const { send } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await send()).status).toBe(200)
    // It is spared for a second after the first one.
    expect(first.bodies.length).toBe(1)
  })

  test('never gets a raw transaction as a trial', async () => {
    const pass = controlTime()
    const [first, second] = [await startFake(fail), await startFake()]
    const { send } = await start([first, second])
    for (let call = 0; call < 5; call += 1) await send()
    pass(1_000)
    first.bodies.length = 0
    expect((await send('eth_sendRawTransaction')).status).toBe(200)
    expect(first.bodies.length).toBe(0)
  })
})

describe('the only upstream, which throttles everything', () => {
  type Respond = NonNullable<FakeUpstream['behaveForQueries']>
  const waitMs = 30_000
  const rejections: readonly (readonly [string, Respond])[] = [
    ['with 429', (_, response) => void response.writeHead(429, { 'retry-after': '30' }).end('slow down')],
    [
      'with an error',
      (call) => `{"jsonrpc":"2.0","id":${call.id},"error":{"code":429,"message":"too many requests, retry in 30s"}}`,
    ],
    ['with 503', (_, response) => void response.writeHead(503, { 'retry-after': '30' }).end('overloaded')],
    ['for its quota', (_, response) => void response.writeHead(402, { 'retry-after': '30' }).end('Payment required')],
  ]

  test.each(rejections)('%s is not down, and its probes wait as long as the rejection says', async (_, reject) => {
    const pass = controlTime()
    const upstream = await startFake()
    const { send, states, url } = await start([upstream])
    await send()
    upstream.behave = reject
    upstream.behaveForQueries = reject
    upstream.probes.length = 0
    pass(5_000)
    await until(() => states().includes('testnet-1 throttled'))
    expect((await send()).text).not.toContain('no_upstream')
    for (let second = 0; second < waitMs / 1_000 - 1; second += 1) {
      pass(1_000)
      await send()
    }
    expect(upstream.probes).toEqual(['eth_chainId'])
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ networks: ['mainnet'] })
    expect(states()).not.toContain('testnet-1 unreachable')
  })

  test.each(rejections)('%s from the start is busy, and used once it says on which chain it is', async (_, reject) => {
    const pass = controlTime()
    const upstream = await startFake(reject)
    upstream.behaveForQueries = reject
    const { send, states, url } = await start([upstream])
    expect((await send()).text).toContain('upstream_busy')
    expect(upstream.bodies).toEqual([])
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ networks: ['mainnet'] })
    upstream.behaveForQueries = undefined
    upstream.behave = (call) => result(call, '1')
    pass(waitMs)
    await send()
    pass(5_000)
    await until(() => states().includes('testnet-1 healthy'))
    expect((await send()).status).toBe(200)
  })
})

describe('an upstream that hangs', () => {
  test('delays a cheap read by half of its timeout, and not at all after five reads', async () => {
    const pass = controlTime()
    const upstreams = [await startFake(hang), await startFake()] as const
    const { send } = await start(upstreams, {}, { upstreamTimeoutMs: 400 })
    for (let call = 1; call <= 5; call += 1) {
      const pending = send()
      await untilCounts(upstreams, [call, call - 1])
      pass(199)
      expect(getCounts(upstreams)).toEqual([call, call - 1])
      pass(1)
      expect((await pending).status).toBe(200)
    }
    expect((await send()).status).toBe(200)
    expect(getCounts(upstreams)).toEqual([5, 6])
    // The calls for which nobody waits are stopped at the node.
    await until(() => upstreams[0].cut() === 5)
  })

  test('delays a raw transaction by its whole timeout, and it is sent to no other', async () => {
    const pass = controlTime()
    const upstreams = [await startFake(hang), await startFake()]
    const { send } = await start(upstreams, { hedgeMs: 20 }, { upstreamTimeoutMs: 300 })
    const pending = send('eth_sendRawTransaction')
    await untilCounts(upstreams, [1, 0])
    pass(300)
    expect((await pending).status).toBe(504)
    expect(getCounts(upstreams)).toEqual([1, 0])
  })
})

describe("one owner's failing calls", () => {
  test('do not open the circuit breaker of an upstream that responds to other calls', async () => {
    const [first, second] = [await startFake(fail), await startFake()]
    const { send, states } = await start([first, second])
    for (let call = 0; call < 12; call += 1) expect((await send('eth_call', true)).status).toBe(200)
    expect(getCounts([first, second])).toEqual([12, 12])
    first.behave = (call) => result(call, '"first"')
    expect((await send()).text).toContain('first')
    expect(states().slice(2)).toEqual([])
  })

  test('open the circuit breaker of an upstream that responds to no call', async () => {
    const pass = controlTime()
    const [first, second] = [await startFake(fail), await startFake()]
    first.respondsToCheapRead = false
    const { send, states } = await start([first, second], {}, { upstreamTimeoutMs: 1_000 })
    for (let call = 0; call < 5; call += 1) await send('eth_call', true)
    expect(states().slice(2)).toEqual([])
    pass(1_000)
    await until(() => states().length > 2)
    expect(states().slice(2)).toEqual(['testnet-1 failing'])
  })
})

describe('with hedgeMs a cheap read without a response by then', () => {
  test('is sent to another upstream too: the first response wins, and the other call is stopped', async () => {
    const pass = controlTime()
    const upstreams = [await startFake(hang), await startFake()] as const
    const { send } = await start(upstreams, { hedgeMs: 50 })
    const pending = send()
    await untilCounts(upstreams, [1, 0])
    pass(50)
    expect((await pending).text).toContain('0x1')
    expect(getCounts(upstreams)).toEqual([1, 1])
    await until(() => upstreams[0].cut() === 1)
  })

  test('gets the response of the first upstream if that arrives sooner', async () => {
    const pass = controlTime()
    const upstreams = [await startFake(), await startFake(hang)] as const
    const release = hold(upstreams[0])
    const { send } = await start(upstreams, { hedgeMs: 30 })
    const pending = send()
    await untilCounts(upstreams, [1, 0])
    pass(30)
    await untilCounts(upstreams, [1, 1])
    release()
    expect((await pending).text).toContain('held')
    await until(() => upstreams[1].cut() === 1)
  })

  const cutConnection: Behaviour = (_, response) => void response.socket?.destroy()
  test.each([
    ['fails', 'second', fail],
    ['is cut off', 'first', cutConnection],
  ] as const)('waits for the other if one %s: the %s', async (_, which, behave) => {
    const pass = controlTime()
    const upstreams = [await startFake(), await startFake()] as const
    const [good, bad] = which === 'second' ? upstreams : [upstreams[1], upstreams[0]]
    const [releaseGood, releaseBad] = [hold(good), hold(bad, behave)]
    const { send } = await start(upstreams, { hedgeMs: 30 })
    const ended: string[] = []
    const pending = send().then(({ text }) => ended.push(text))
    await untilCounts(upstreams, [1, 0])
    pass(30)
    await untilCounts(upstreams, [1, 1])
    releaseBad()
    // By the time another call has its response, the gateway has seen the failure.
    good.behave = (call) => result(call, '"other"')
    bad.behave = good.behave
    await send('eth_getLogs')
    expect(ended).toEqual([])
    releaseGood()
    await pending
    expect(ended[0]).toContain('held')
    // Two attempts for the first call, never a third, and one for the other.
    expect(getCounts(upstreams).reduce((sum, count) => sum + count)).toBe(3)
  })

  test('is sent to no other if the response arrives in time, or if it is expensive', async () => {
    const pass = controlTime()
    const upstreams = [await startFake(), await startFake()] as const
    const release = hold(upstreams[0])
    const { send } = await start(upstreams, { hedgeMs: 300 })
    const inTime = send()
    await untilCounts(upstreams, [1, 0])
    pass(299)
    release()
    await inTime
    pass(1)
    const expensive = send('eth_getLogs')
    await untilCounts(upstreams, [2, 0])
    pass(1_000)
    release()
    await expensive
    expect(getCounts(upstreams)).toEqual([2, 0])
  })
})
