import { afterEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl, createApiKey } from '../src/index.ts'
import type { GatewayOptions } from '../src/index.ts'
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

const fake = async (behave?: Behaviour): Promise<FakeUpstream> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  toStop.push(upstream.stop)
  return behave === undefined ? upstream : Object.assign(upstream, { behave })
}
interface Started extends StartedGateway {
  /** Asks by one of five keys, of as many owners, in turn; or by the first alone. */
  readonly ask: (method?: string, alone?: boolean) => Promise<{ status: number; text: string }>
  readonly states: () => string[]
}
const start = async (
  upstreams: readonly FakeUpstream[],
  network: { maxLagBlocks?: number; hedgeMs?: number } = {},
  limits: GatewayOptions['limits'] = {},
): Promise<Started> => {
  const none = { chainId: chainIds.mainnet, upstreams: [{ url: 'http://127.0.0.1:9' }] }
  const testnet = { chainId: chainIds.testnet, upstreams: upstreams.map(({ url }) => ({ url })), ...network }
  const started = await startGateway({ testnet: [] }, { networks: { testnet, mainnet: none }, limits })
  toStop.push(() => started.gateway.close({ graceMs: 0 }))
  const made = Array.from({ length: 5 }, (_, index) => {
    const key = createApiKey('testnet')
    started.keys.add(key, { id: `key-${index}`, kind: 'apiKey', networks: ['testnet'], status: 'active' })
    return getApiKeyUrl(started.url, 'testnet', key)
  })
  let calls = 0
  return {
    ...started,
    ask: (method = 'eth_call', alone = false) => {
      calls += 1
      const address = made[alone ? 0 : calls % made.length] ?? ''
      return post(address, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [calls] }))
    },
    states: () =>
      started.entries.flatMap((entry) =>
        entry.event === 'upstream' && entry.network === 'testnet' ? [`${entry.upstream} ${entry.state}`] : [],
      ),
  }
}
const countOf = (upstreams: readonly FakeUpstream[]): number[] => upstreams.map(({ bodies }) => bodies.length)
const hang: Behaviour = () => undefined
const fail: Behaviour = (_, response) => {
  response.statusCode = 500
  return 'broken'
}
/** Makes a node hold its responses back. @returns Ends each of them as `how` says, by default with a result. */
const hold = (upstream: FakeUpstream, how: Behaviour = (call) => result(call, '"held"')): (() => void) => {
  const held: (() => void)[] = []
  upstream.behave = (call, response) =>
    void held.push(() => {
      const text = how(call, response)
      if (text !== undefined) response.end(text)
    })
  return () => {
    for (const release of held.splice(0)) release()
  }
}
/** Waits until the upstreams have received so many requests. */
const untilCounts = (upstreams: readonly FakeUpstream[], counts: readonly number[]) =>
  until(() => String(countOf(upstreams)) === String(counts))

describe('an upstream that is behind', () => {
  test.each([
    [9, undefined, [0, 1]],
    [8, undefined, [1, 0]],
    [3, 2, [0, 1]],
  ])('by %i blocks, with maxLagBlocks %s: %o', async (blocks, maxLagBlocks, counts) => {
    const [first, second] = [await fake(), await fake()]
    first.head = second.head - blocks
    const { ask } = await start([first, second], maxLagBlocks === undefined ? {} : { maxLagBlocks })
    expect((await ask()).status).toBe(200)
    expect(countOf([first, second])).toEqual(counts)
  })

  test('is asked again once it has caught up, and says so in the log', async () => {
    const [first, second] = [await fake(), await fake()]
    first.head = 1
    const pass = controlTime()
    const { ask, states } = await start([first, second])
    await ask()
    first.head = second.head
    pass(5_000)
    await until(() => states().at(-1) === 'testnet-1 caughtUp')
    await ask()
    expect(countOf([first, second])).toEqual([1, 1])
    expect(states()).toEqual(['testnet-1 healthy', 'testnet-2 healthy', 'testnet-1 lagging', 'testnet-1 caughtUp'])
  })

  test('is asked all the same where no other is left', async () => {
    const [first, second] = [await fake(), await fake()]
    first.head = 1
    const { ask } = await start([first, second])
    await second.stop()
    expect((await ask()).status).toBe(200)
    expect(countOf([first, second])).toEqual([1, 0])
  })
})

describe('an upstream whose answers fail', () => {
  test('five times is left in peace: one call a second finds out if it works again', async () => {
    const pass = controlTime()
    const [first, second] = [await fake(fail), await fake()]
    const { ask, states } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(200)
    expect(countOf([first, second])).toEqual([5, 20])
    pass(999)
    first.behave = (call) => result(call, '"back"')
    expect((await ask()).text).not.toContain('back')
    // The node works again: the next try says so.
    pass(1)
    expect((await ask()).text).toContain('back')
    expect(states().slice(2)).toEqual(['testnet-1 failing', 'testnet-1 recovered'])
    second.bodies.length = 0
    for (let call = 0; call < 5; call += 1) await ask()
    expect(second.bodies.length).toBe(0)
  })

  test('is asked all the same where there is no other', async () => {
    const upstream = await fake(fail)
    const { ask } = await start([upstream])
    for (let call = 0; call < 12; call += 1) expect((await ask()).status).toBe(502)
    upstream.behave = (call) => result(call, '1')
    expect((await ask()).status).toBe(200)
  })

  // 15.31
  test('is tried again a second after one blip, however many calls were in flight when it began', async () => {
    const pass = controlTime()
    const [first, second] = [await fake(), await fake()]
    const release = hold(first, fail)
    const { ask, states } = await start([first, second])
    const pending = Array.from({ length: 40 }, () => ask())
    await untilCounts([first], [40])
    first.behave = (call) => result(call, '"back"')
    release()
    for (const { status } of await Promise.all(pending)) expect(status).toBe(200)
    expect(states().slice(2)).toEqual(['testnet-1 failing'])
    // Each of the 35 later failures used to double the wait, up to 30 s.
    pass(1_000)
    expect((await ask()).text).toContain('back')
  })

  test('with 429 costs callers nothing while another is there', async () => {
    const busy: Behaviour = (_, response) => {
      response.statusCode = 429
      return 'slow down'
    }
    controlTime()
    const [first, second] = [await fake(busy), await fake()]
    const { ask } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(200)
    expect(first.bodies.length).toBe(5)
  })

  test('never gets a raw transaction for a try', async () => {
    const pass = controlTime()
    const [first, second] = [await fake(fail), await fake()]
    const { ask } = await start([first, second])
    for (let call = 0; call < 5; call += 1) await ask()
    pass(1_000)
    first.bodies.length = 0
    expect((await ask('eth_sendRawTransaction')).status).toBe(200)
    expect(first.bodies.length).toBe(0)
  })
})

describe('an upstream that hangs', () => {
  test('costs a light read half its time, and after five not even that', async () => {
    const pass = controlTime()
    const upstreams = [await fake(hang), await fake()] as const
    const { ask } = await start(upstreams, {}, { upstreamTimeoutMs: 400 })
    for (let call = 1; call <= 5; call += 1) {
      const pending = ask()
      await untilCounts(upstreams, [call, call - 1])
      pass(199)
      expect(countOf(upstreams)).toEqual([call, call - 1])
      pass(1)
      expect((await pending).status).toBe(200)
    }
    expect((await ask()).status).toBe(200)
    expect(countOf(upstreams)).toEqual([5, 6])
    // The node's side of what nobody waits for is ended.
    await until(() => upstreams[0].cut() === 5)
  })

  test('costs a raw transaction its whole time, and it is asked of no other', async () => {
    const pass = controlTime()
    const upstreams = [await fake(hang), await fake()]
    const { ask } = await start(upstreams, { hedgeMs: 20 }, { upstreamTimeoutMs: 300 })
    const pending = ask('eth_sendRawTransaction')
    await untilCounts(upstreams, [1, 0])
    pass(300)
    expect((await pending).status).toBe(504)
    expect(countOf(upstreams)).toEqual([1, 0])
  })
})

describe('one owner’s calls that come to nothing', () => {
  test('turn nobody away from an upstream that answers other questions', async () => {
    const [first, second] = [await fake(fail), await fake()]
    const { ask, states } = await start([first, second])
    for (let call = 0; call < 12; call += 1) expect((await ask('eth_call', true)).status).toBe(200)
    expect(countOf([first, second])).toEqual([12, 12])
    first.behave = (call) => result(call, '"first"')
    expect((await ask()).text).toContain('first')
    expect(states().slice(2)).toEqual([])
  })

  test('show that an upstream is ill where it answers nobody', async () => {
    const pass = controlTime()
    const [first, second] = [await fake(fail), await fake()]
    first.answersLightRead = false
    const { ask, states } = await start([first, second], {}, { upstreamTimeoutMs: 1_000 })
    for (let call = 0; call < 5; call += 1) await ask('eth_call', true)
    expect(states().slice(2)).toEqual([])
    pass(1_000)
    await until(() => states().length > 2)
    expect(states().slice(2)).toEqual(['testnet-1 failing'])
  })
})

describe('with hedgeMs a light read that has no answer by then', () => {
  test('is asked of another too: the first answer counts, and the other is ended', async () => {
    const pass = controlTime()
    const upstreams = [await fake(hang), await fake()] as const
    const { ask } = await start(upstreams, { hedgeMs: 50 })
    const pending = ask()
    await untilCounts(upstreams, [1, 0])
    pass(50)
    expect((await pending).text).toContain('0x1')
    expect(countOf(upstreams)).toEqual([1, 1])
    await until(() => upstreams[0].cut() === 1)
  })

  test('takes the first`s answer where that comes sooner', async () => {
    const pass = controlTime()
    const upstreams = [await fake(), await fake(hang)] as const
    const release = hold(upstreams[0])
    const { ask } = await start(upstreams, { hedgeMs: 30 })
    const pending = ask()
    await untilCounts(upstreams, [1, 0])
    pass(30)
    await untilCounts(upstreams, [1, 1])
    release()
    expect((await pending).text).toContain('held')
    await until(() => upstreams[1].cut() === 1)
  })

  const cutOff: Behaviour = (_, response) => void response.socket?.destroy()
  test.each([
    ['fails', 'second', fail],
    ['is cut off', 'first', cutOff],
  ] as const)('waits for the other where one %s: the %s', async (_, which, how) => {
    const pass = controlTime()
    const upstreams = [await fake(), await fake()] as const
    const [good, bad] = which === 'second' ? upstreams : [upstreams[1], upstreams[0]]
    const [releaseGood, releaseBad] = [hold(good), hold(bad, how)]
    const { ask } = await start(upstreams, { hedgeMs: 30 })
    const ended: string[] = []
    const pending = ask().then(({ text }) => ended.push(text))
    await untilCounts(upstreams, [1, 0])
    pass(30)
    await untilCounts(upstreams, [1, 1])
    releaseBad()
    // By the time another call has its response, the gateway has seen the failure.
    good.behave = (call) => result(call, '"other"')
    bad.behave = good.behave
    await ask('eth_getLogs')
    expect(ended).toEqual([])
    releaseGood()
    await pending
    expect(ended[0]).toContain('held')
    // Two tries in all, never a third.
    expect(countOf(upstreams).reduce((sum, count) => sum + count)).toBe(3)
  })

  test('is asked of nobody else where it came in time, or is heavy', async () => {
    const pass = controlTime()
    const upstreams = [await fake(), await fake()] as const
    const release = hold(upstreams[0])
    const { ask } = await start(upstreams, { hedgeMs: 300 })
    const inTime = ask()
    await untilCounts(upstreams, [1, 0])
    pass(299)
    release()
    await inTime
    pass(1)
    const heavy = ask('eth_getLogs')
    await untilCounts(upstreams, [2, 0])
    pass(1_000)
    release()
    await heavy
    expect(countOf(upstreams)).toEqual([2, 0])
  })
})
