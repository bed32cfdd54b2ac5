import { afterEach, describe, expect, test } from 'vitest'
import { apiKeyAddress, createApiKey } from '../src/index.ts'
import type { GatewayOptions } from '../src/index.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const fake = async (behave?: Behaviour): Promise<FakeUpstream> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  toStop.push(upstream.stop)
  return behave === undefined ? upstream : Object.assign(upstream, { behave })
}
interface Started extends StartedGateway {
  /** Asks by one of five keys, of as many owners, in turn; or by the first alone. */
  readonly ask: (method?: string, alone?: boolean) => Promise<{ status: number; text: string; ms: number }>
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
    return apiKeyAddress(started.url, 'testnet', key)
  })
  let calls = 0
  return {
    ...started,
    ask: async (method = 'eth_call', alone = false) => {
      calls += 1
      const address = made[alone ? 0 : calls % made.length] ?? ''
      const startedAt = performance.now()
      const answer = await post(address, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [calls] }))
      return { ...answer, ms: performance.now() - startedAt }
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
const after =
  (ms: number, value = '"0x1"'): Behaviour =>
  (call, response) =>
    void setTimeout(() => response.end(result(call, value)), ms)

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
    const { ask, states } = await start([first, second])
    await ask()
    first.head = second.head
    await expect.poll(async () => [(await ask()).status, first.bodies.length > 0]).toEqual([200, true])
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
    const [first, second] = [await fake(fail), await fake()]
    const { ask, states } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(200)
    expect(countOf([first, second])).toEqual([5, 20])
    // The node works again: the next try says so.
    first.behave = (call) => result(call, '"back"')
    await expect.poll(async () => (await ask()).text).toContain('back')
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
    const [first, second] = [await fake(), await fake()]
    const held: (() => void)[] = []
    first.behave = (_, response) =>
      void held.push(() => {
        response.statusCode = 500
        response.end('broken')
      })
    const { ask, states } = await start([first, second], {}, { upstreamTimeoutMs: 60_000 })
    const pending = Array.from({ length: 40 }, () => ask())
    await expect.poll(() => held.length).toBe(40)
    first.behave = (call) => result(call, '"back"')
    for (const breakOff of held) breakOff()
    for (const { status } of await Promise.all(pending)) expect(status).toBe(200)
    expect(states().slice(2)).toEqual(['testnet-1 failing'])
    // Each of the 35 later failures used to double the wait, up to 30 s.
    await expect.poll(async () => (await ask()).text).toContain('back')
  })

  test('with 429 costs callers nothing while another is there', async () => {
    const busy: Behaviour = (_, response) => {
      response.statusCode = 429
      return 'slow down'
    }
    const [first, second] = [await fake(busy), await fake()]
    const { ask } = await start([first, second])
    for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(200)
    expect(first.bodies.length).toBe(5)
  })

  test('never gets a raw transaction for a try', async () => {
    const [first, second] = [await fake(fail), await fake()]
    const { ask } = await start([first, second])
    for (let call = 0; call < 5; call += 1) await ask()
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    first.bodies.length = 0
    expect((await ask('eth_sendRawTransaction')).status).toBe(200)
    expect(first.bodies.length).toBe(0)
  })
})

describe('an upstream that hangs', () => {
  test('costs a light read half its time, and after five not even that', async () => {
    const [first, second] = [await fake(hang), await fake()]
    const { ask } = await start([first, second], {}, { upstreamTimeoutMs: 400 })
    for (let call = 0; call < 5; call += 1) {
      const { status, ms } = await ask()
      expect([status, ms >= 195]).toEqual([200, true])
    }
    const { status, ms } = await ask()
    expect([status, ms < 150]).toEqual([200, true])
    // The node's side of what nobody waits for is ended.
    await expect.poll(() => first.cut()).toBe(5)
  })

  test('costs a raw transaction its whole time, and it is asked of no other', async () => {
    const [first, second] = [await fake(hang), await fake()]
    const { ask } = await start([first, second], { hedgeMs: 20 }, { upstreamTimeoutMs: 300 })
    expect((await ask('eth_sendRawTransaction')).status).toBe(504)
    expect(countOf([first, second])).toEqual([1, 0])
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
    const [first, second] = [await fake(fail), await fake()]
    first.answersLightRead = false
    const { ask, states } = await start([first, second], {}, { upstreamTimeoutMs: 1_000 })
    for (let call = 0; call < 5; call += 1) await ask('eth_call', true)
    await expect.poll(() => states().slice(2)).toEqual(['testnet-1 failing'])
  })
})

describe('with hedgeMs a light read that has no answer by then', () => {
  test('is asked of another too: the first answer counts, and the other is ended', async () => {
    const [first, second] = [await fake(after(2_000, '"slow"')), await fake()]
    const { ask } = await start([first, second], { hedgeMs: 50 })
    const { text, ms } = await ask()
    expect([text, ms < 1_500]).toEqual([expect.stringContaining('0x1'), true])
    expect(countOf([first, second])).toEqual([1, 1])
    await expect.poll(() => first.cut()).toBe(1)
  })

  test('takes the first`s answer where that comes sooner', async () => {
    const [first, second] = [await fake(after(150, '"first"')), await fake(hang)]
    const { ask } = await start([first, second], { hedgeMs: 30 })
    expect((await ask()).text).toContain('first')
    await expect.poll(() => second.cut()).toBe(1)
  })

  test('waits for the other where one fails', async () => {
    for (const [one, other] of [
      [after(100, '"good"'), fail],
      [
        (_: unknown, response: Parameters<Behaviour>[1]): undefined =>
          void setTimeout(() => response.socket?.destroy(), 80),
        after(150, '"good"'),
      ],
    ] as [Behaviour, Behaviour][]) {
      const upstreams = [await fake(one), await fake(other)]
      const { ask } = await start(upstreams, { hedgeMs: 30 })
      expect((await ask()).text).toContain('good')
      // Two tries in all, never a third.
      expect(countOf(upstreams)).toEqual([1, 1])
    }
  })

  test('is asked of nobody else where it came in time, or is heavy', async () => {
    const [first, second] = [await fake(after(10)), await fake()]
    const { ask } = await start([first, second], { hedgeMs: 300 })
    await ask()
    first.behave = after(500)
    await ask('eth_getLogs')
    expect(countOf([first, second])).toEqual([2, 0])
  })
})
