import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { createRateLimiter } from '../src/usage/rateLimit/createRateLimiter.ts'
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
/** Answers that a test holds back, in the order they were asked for. */
let held: { call: SeenCall; response: ServerResponse }[] = []
/** Lets the gateway's time pass, which is stopped otherwise. */
let pass: (ms: number) => void
/** Requests that the gateway has read and passed on to its upstreams, or joined to a read in flight. */
let received = 0

beforeAll(async () => {
  pass = controlTime()
  upstream = await startFakeUpstream(chainIds.testnet)
  const rates = createRateLimiter()
  started = await startGateway(
    { testnet: [upstream.url] },
    {
      limits: { upstreamTimeoutMs: 2_000 },
      rates: {
        take: (...call) => {
          received += 1
          return rates.take(...call)
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
  for (const { call: asked, response } of held.splice(0)) response.end(result(asked, value))
}
const textOf = async (answer: Promise<{ text: string }>): Promise<string> => (await answer).text

describe('the same read asked at the same time', () => {
  test('is carried once, and each caller gets it under its own id', async () => {
    const ids = [1, 'a', 1.5, 1, 2]
    const answers = ids.map((id, index) => post(index % 2 === 0 ? mine : theirs, call(id)))
    await untilHeld(1)
    await untilReceived(5)
    release('"0x10"')
    expect(await Promise.all(answers.map(textOf))).toEqual(
      ids.map((id) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"0x10"}`),
    )
    expect(upstream.bodies.length).toBe(1)
  })

  test("brings a node's error to each of its callers, and the next asks anew", async () => {
    const answers = [post(mine, call(1)), post(mine, call(2))]
    await untilHeld(1)
    await untilReceived(2)
    for (const { call: asked, response } of held.splice(0))
      response.end(`{"jsonrpc":"2.0","id":${asked.id},"error":{"code":3,"message":"reverted"}}`)
    for (const text of await Promise.all(answers.map(textOf))) expect(text).toContain('reverted')
    const next = post(mine, call(3))
    await untilHeld(1)
    release()
    expect(await textOf(next)).toContain('0x1')
    expect(upstream.bodies.length).toBe(2)
  })

  test.each([
    ['another method', call(2, 'eth_gasPrice')],
    ['other params', call(2, 'eth_blockNumber', [1])],
    ['the same params written otherwise', '{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber","params":[ ]}'],
  ])('is not shared with %s', async (_, other) => {
    const answers = [post(mine, call(1)), post(mine, other)]
    await untilHeld(2)
    release()
    await Promise.all(answers)
    expect(upstream.bodies.length).toBe(2)
  })

  test.each(['eth_sendRawTransaction', 'eth_newBlockFilter'])('%s is never shared', async (method) => {
    const answers = [post(mine, call(1, method, ['0x01'])), post(mine, call(2, method, ['0x01']))]
    await untilHeld(2)
    release('"0x0"')
    await Promise.all(answers)
    expect(upstream.bodies.length).toBe(2)
  })

  test('is not shared between networks', async () => {
    const other = await startFakeUpstream(chainIds.mainnet)
    other.behave = (asked) => result(asked, '"0x2"')
    const both = await startGateway({ testnet: [upstream.url], mainnet: [other.url] })
    const answers = [
      post(getAppUrl(both.url, 'testnet', both.app), call(1)),
      post(getAppUrl(both.url, 'mainnet', both.app), call(1)),
    ]
    await untilHeld(1)
    await answers[1]
    release('"0x1"')
    const texts = await Promise.all(answers.map(textOf))
    await both.gateway.close({ graceMs: 0 })
    await other.stop()
    expect(texts.map((text) => text.includes('0x1'))).toEqual([true, false])
  })
})

describe('a caller whose read others wait for', () => {
  test('may go away without failing anyone', async () => {
    const leader = await openRaw(started.port)
    leader.send(postBytes(`/testnet/${started.testnetKey}`, call('leader')))
    await untilHeld(1)
    const others = [post(theirs, call(1)), post(theirs, call(2))]
    await untilReceived(3)
    leader.reset()
    await untilDisconnected()
    release('"0x7"')
    for (const text of await Promise.all(others.map(textOf))) expect(text).toContain('0x7')
    expect(upstream.bodies.length).toBe(1)
  })

  test('and all others who go away end it at the node', async () => {
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

  test('does not join a read from before it, where others do', async () => {
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
    // The transaction, the old read, and the fresh one, which the other caller may have joined in place of the old.
    expect(upstream.bodies.length).toBe(3)
    release()
    await Promise.all([old, fresh, another])
  })

  test('does not join a read that began while the transaction was on its way', async () => {
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
  test('is not joined any more: who comes late would get an old answer, or none', async () => {
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
  test('asks each read once, however often it holds it', async () => {
    upstream.behave = (asked) => result(asked, `"${asked.method}"`)
    const answer = await post(mine, `[${[1, 2, 3].map((id) => `${call(id)},${call(id, 'eth_gasPrice')}`).join(',')}]`)
    expect(JSON.parse(answer.text)).toEqual(
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
    expect([await textOf(single), await textOf(batch)].every((text) => text.includes('0x9'))).toBe(true)
    expect(upstream.bodies.length).toBe(1)
  })

  test('that waits alone for a large answer, the one who asked first having gone, gets it whole', async () => {
    const leader = await openRaw(started.port)
    leader.send(postBytes(`/testnet/${started.testnetKey}`, call('leader')))
    await untilHeld(1)
    const batch = post(theirs, `[${call('batch')},${call('other', 'eth_gasPrice')}]`)
    await untilHeld(2)
    leader.reset()
    await untilDisconnected()
    const large = `"${'x'.repeat(3_000_000)}"`
    for (const { call: asked, response } of held.splice(0))
      response.end(asked.method === 'eth_blockNumber' ? result(asked, large) : result(asked, '1'))
    const text = await textOf(batch)
    expect(
      text === `[{"jsonrpc":"2.0","id":"batch","result":${large}},{"jsonrpc":"2.0","id":"other","result":1}]`,
    ).toBe(true)
  })

  test('that fails as a whole gives each twin the answer of its first', async () => {
    upstream.behave = (asked, response) => {
      if (!upstream.bodies.at(-1)?.startsWith('[')) return result(asked, '"0x3"')
      if (!response.writableEnded) {
        response.statusCode = 500
        response.end('no batches')
      }
      return undefined
    }
    const answer = await post(mine, `[${call(1)},${call(2)},${call(3, 'eth_gasPrice')}]`)
    expect((JSON.parse(answer.text) as { result: string }[]).map(({ result: value }) => value)).toEqual([
      '0x3',
      '0x3',
      '0x3',
    ])
  })
})
