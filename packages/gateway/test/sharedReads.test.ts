import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
let mine: string
let theirs: string
/** Responses that a test holds back, in the order of their calls. */
let held: { call: SeenCall; response: ServerResponse }[] = []
/** Advances the gateway's clock, which is stopped otherwise. */
let pass: (ms: number) => void
/** Requests that the gateway has read and forwarded to its upstreams, or joined to a read in flight. */
let received = 0

beforeAll(async () => {
  pass = controlTime()
  upstream = await startFakeUpstream(chainIds.testnet)
  const usageLimits = createLocalLimits()
  started = await startGateway(
    { testnet: [upstream.url] },
    {
      bounds: { upstreamTimeoutMs: 2_000 },
      usageLimits: {
        ...usageLimits,
        take: (request) => {
          received += 1
          return usageLimits.take(request)
        },
      },
    },
  )
  const limits = { perSecond: 1_000, burst: 1_000, perDay: null, perMonth: null }
  started.keys.add(started.testnetKey, { id: 'mine', kind: 'apiKey', networks: ['testnet'], status: 'active', limits })
  started.keys.add(started.app, { id: 'theirs', kind: 'app', networks: ['testnet'], status: 'active', limits })
  mine = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
  theirs = getAppUrl(started.url, 'testnet', started.app)
})
afterAll(async () => {
  vi.useRealTimers()
  await started.gateway.close({ graceMs: 0 })
  await upstream.stop()
})
beforeEach(() => {
  upstream.bodies.length = 0
  started.entries.length = 0
  received = 0
  held = []
  upstream.behave = (call, response) => void held.push({ call, response })
})

const call = (id: number | string, method = 'eth_blockNumber', params: readonly unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const untilHeld = (count: number) => until(() => held.length >= count)
const untilReceived = (count: number) => until(() => received === count)
const untilDisconnected = () => until(() => started.entries.some(({ event }) => event === 'disconnected'))
const release = (value = '"0x1"'): void => {
  for (const { call: seen, response } of held.splice(0)) response.end(result(seen, value))
}
const getText = async (response: Promise<{ text: string }>): Promise<string> => (await response).text

describe('identical reads at the same time', () => {
  test('are sent once, and each caller gets the result under its own id', async () => {
    const ids = [1, 'a', 1.5, 1, 2]
    const responses = ids.map((id, index) => post(index % 2 === 0 ? mine : theirs, call(id)))
    await untilHeld(1)
    await untilReceived(5)
    release('"0x10"')
    expect(await Promise.all(responses.map(getText))).toEqual(
      ids.map((id) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"0x10"}`),
    )
    expect(upstream.bodies.length).toBe(1)
  })

  test("each get the node's error, and the next one is sent again", async () => {
    const responses = [post(mine, call(1)), post(mine, call(2))]
    await untilHeld(1)
    await untilReceived(2)
    for (const { call: seen, response } of held.splice(0))
      response.end(`{"jsonrpc":"2.0","id":${seen.id},"error":{"code":3,"message":"reverted"}}`)
    for (const text of await Promise.all(responses.map(getText))) expect(text).toContain('reverted')
    const next = post(mine, call(3))
    await untilHeld(1)
    release()
    expect(await getText(next)).toContain('0x1')
    expect(upstream.bodies.length).toBe(2)
  })

  test.each([
    ['another method', call(2, 'eth_gasPrice')],
    ['other params', call(2, 'eth_blockNumber', [1])],
    ['the same params written differently', '{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber","params":[ ]}'],
  ])('do not include %s', async (_, other) => {
    const responses = [post(mine, call(1)), post(mine, other)]
    await untilHeld(2)
    release()
    await Promise.all(responses)
    expect(upstream.bodies.length).toBe(2)
  })

  test.each(['eth_sendRawTransaction', 'eth_newBlockFilter'])('do not include %s', async (method) => {
    const responses = [post(mine, call(1, method, ['0x01'])), post(mine, call(2, method, ['0x01']))]
    await untilHeld(2)
    release('"0x0"')
    await Promise.all(responses)
    expect(upstream.bodies.length).toBe(2)
  })

  test('are not shared between networks', async () => {
    const other = await startFakeUpstream(chainIds.mainnet)
    other.behave = (seen) => result(seen, '"0x2"')
    const both = await startGateway({ testnet: [upstream.url], mainnet: [other.url] })
    const responses = [
      post(getAppUrl(both.url, 'testnet', both.app), call(1)),
      post(getAppUrl(both.url, 'mainnet', both.app), call(1)),
    ]
    await untilHeld(1)
    await responses[1]
    release('"0x1"')
    const texts = await Promise.all(responses.map(getText))
    await both.gateway.close({ graceMs: 0 })
    await other.stop()
    expect(texts.map((text) => text.includes('0x1'))).toEqual([true, false])
  })
})

describe('the leader of a read', () => {
  test('can leave without an effect on its followers', async () => {
    const leader = await openRaw(started.port)
    leader.send(postBytes(`/testnet/${started.testnetKey}`, call('leader')))
    await untilHeld(1)
    const others = [post(theirs, call(1)), post(theirs, call(2))]
    await untilReceived(3)
    leader.reset()
    await untilDisconnected()
    release('"0x7"')
    for (const text of await Promise.all(others.map(getText))) expect(text).toContain('0x7')
    expect(upstream.bodies.length).toBe(1)
  })

  test('and all its followers can leave, which stops the read at the node', async () => {
    const before = upstream.cut()
    const callers = [await openRaw(started.port), await openRaw(started.port)]
    for (const caller of callers) caller.send(postBytes(`/testnet/${started.testnetKey}`, call('x')))
    await untilHeld(1)
    await untilReceived(2)
    for (const caller of callers) caller.reset()
    await until(() => upstream.cut() === before + 1)
  })
})

describe('after its own raw transaction a caller', () => {
  const write = call('w', 'eth_sendRawTransaction', ['0x01'])

  test('does not join an earlier read, which others may join', async () => {
    const old = post(theirs, call('old'))
    await untilHeld(1)
    const sent = post(mine, write)
    await untilHeld(2)
    const [, transaction] = held
    transaction?.response.end(result(transaction.call, '"0xhash"'))
    await sent
    const [fresh, another] = [post(mine, call('fresh')), post(theirs, call('another'))]
    await untilHeld(3)
    await untilReceived(4)
    // The transaction, the old read, and the fresh one, which the other caller may have joined instead of the old one.
    expect(upstream.bodies.length).toBe(3)
    release()
    await Promise.all([old, fresh, another])
  })

  test('does not join a read that started while the transaction was in flight', async () => {
    const sent = post(mine, write)
    await untilHeld(1)
    const between = post(theirs, call('between'))
    await untilHeld(2)
    const [transaction] = held
    transaction?.response.end(result(transaction.call, '"0xhash"'))
    await sent
    const after = post(mine, call('after'))
    await untilHeld(3)
    release()
    await Promise.all([between, after])
    expect(upstream.bodies.length).toBe(3)
  })

  test('in a batch too', async () => {
    const old = post(theirs, call('old'))
    await untilHeld(1)
    const sent = post(mine, `[${write}]`)
    await untilHeld(2)
    held[1]?.response.end(result(held[1].call, '"0xhash"'))
    await sent
    const after = post(mine, `[${call('after')}]`)
    await untilHeld(3)
    release()
    await Promise.all([old, after])
    expect(upstream.bodies.length).toBe(3)
  })
})

describe('a read that has been in flight for half its time', () => {
  test('cannot be joined any more: a late caller would get an old response, or none', async () => {
    const first = post(mine, call(1))
    await untilHeld(1)
    pass(999)
    const joined = post(mine, call(2))
    await untilReceived(2)
    pass(1)
    const second = post(mine, call(3))
    await untilHeld(2)
    release()
    await Promise.all([first, joined, second])
    expect(upstream.bodies.length).toBe(2)
  })
})

describe('a batch', () => {
  test('sends identical reads once', async () => {
    upstream.behave = (seen) => result(seen, `"${seen.method}"`)
    const response = await post(mine, `[${[1, 2, 3].map((id) => `${call(id)},${call(id, 'eth_gasPrice')}`).join(',')}]`)
    expect(JSON.parse(response.text)).toEqual(
      [1, 2, 3].flatMap((id) => [
        { jsonrpc: '2.0', id, result: 'eth_blockNumber' },
        { jsonrpc: '2.0', id, result: 'eth_gasPrice' },
      ]),
    )
    expect((JSON.parse(upstream.bodies[0] ?? '') as unknown[]).length).toBe(2)
  })

  test("joins others' reads that are in flight", async () => {
    const single = post(theirs, call('single'))
    await untilHeld(1)
    const batch = post(mine, `[${call('batch')}]`)
    await untilReceived(2)
    release('"0x9"')
    expect([await getText(single), await getText(batch)].every((text) => text.includes('0x9'))).toBe(true)
    expect(upstream.bodies.length).toBe(1)
  })

  test('of one read can be joined by others', async () => {
    const batch = post(theirs, `[${call('batch')}]`)
    await untilHeld(1)
    const single = post(mine, call('single'))
    await untilReceived(2)
    release('"0x9"')
    expect([await getText(batch), await getText(single)].every((text) => text.includes('0x9'))).toBe(true)
    expect(upstream.bodies.length).toBe(1)
  })

  test('that waits alone for a large response after its leader has left gets all of it', async () => {
    const leader = await openRaw(started.port)
    leader.send(postBytes(`/testnet/${started.testnetKey}`, call('leader')))
    await untilHeld(1)
    const batch = post(theirs, `[${call('batch')},${call('other', 'eth_gasPrice')}]`)
    await untilHeld(2)
    leader.reset()
    await untilDisconnected()
    const large = `"${'x'.repeat(3_000_000)}"`
    for (const { call: seen, response } of held.splice(0))
      response.end(seen.method === 'eth_blockNumber' ? result(seen, large) : result(seen, '1'))
    const text = await getText(batch)
    expect(
      text === `[{"jsonrpc":"2.0","id":"batch","result":${large}},{"jsonrpc":"2.0","id":"other","result":1}]`,
    ).toBe(true)
  })

  test('that fails as a whole responds to identical reads with one result', async () => {
    upstream.behave = (seen, response) => {
      if (!upstream.bodies.at(-1)?.startsWith('[')) return result(seen, '"0x3"')
      if (!response.writableEnded) {
        response.statusCode = 500
        response.end('no batches')
      }
      return undefined
    }
    const response = await post(mine, `[${call(1)},${call(2)},${call(3, 'eth_gasPrice')}]`)
    expect((JSON.parse(response.text) as { result: string }[]).map(({ result: value }) => value)).toEqual([
      '0x3',
      '0x3',
      '0x3',
    ])
  })
})
