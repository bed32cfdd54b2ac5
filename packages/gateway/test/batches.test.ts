import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { chainIds, post, nothingThere, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
let address: string

const timeoutMs = 1_500
/** Lets the gateway's time pass, which is stopped otherwise. */
let pass: (ms: number) => void

beforeAll(async () => {
  pass = controlTime()
  upstream = await startFakeUpstream(chainIds.testnet)
  started = await startGateway(
    { testnet: [upstream.url] },
    { limits: { upstreamTimeoutMs: timeoutMs, maxResponseBytes: 1_000_000 } },
  )
  address = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
})
afterAll(async () => {
  vi.useRealTimers()
  await started.gateway.close({ graceMs: 0 })
  await upstream.stop()
})
beforeEach(() => {
  upstream.bodies.length = 0
  upstream.behave = echo
})

/** Answers with the first param, so that an answer given to the wrong call is seen. */
const echo = (call: SeenCall): string => result(call, JSON.stringify((call.params as unknown[])[0] ?? null))

const call = (id: number | string | null, param: unknown, method = 'eth_call'): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: [param] })
const batchOf = (...items: readonly string[]): string => `[${items.join(',')}]`
const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

interface Answered {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: { readonly reason: string } }
}
const ask = async (body: string): Promise<Answered[]> => {
  const answer = await post(address, body)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text) as Answered[]
}
const reasonOf = (item: Answered | undefined): unknown => item?.error?.data.reason

describe('a batch', () => {
  test('is answered in the order of its calls, each by its own', async () => {
    const answers = await ask(batchOf(...indices(250).map((index) => call(index, `p${index}`))))
    expect(answers).toEqual(indices(250).map((index) => ({ jsonrpc: '2.0', id: index, result: `p${index}` })))
    expect(upstream.bodies.map((body) => (JSON.parse(body) as unknown[]).length)).toEqual([100, 100, 50])
  })

  test('keeps the order also where the node answers in another', async () => {
    upstream.reversed = true
    const answers = await ask(batchOf(...indices(20).map((index) => call(index, `p${index}`))))
    upstream.reversed = false
    expect(answers.map((item) => [item.id, item.result])).toEqual(indices(20).map((index) => [index, `p${index}`]))
    expect(upstream.bodies.length).toBe(1)
  })

  test('of what is no request, not offered, wrongly put and good is answered item by item', async () => {
    const answers = await ask(
      batchOf(
        '1',
        call(1, 'a'),
        '[]',
        call(2, 'b', 'eth_accounts'),
        '{"jsonrpc":"2.0","id":3,"method":"eth_call","params":7}',
        '{"jsonrpc":"2.0","id":4,"id":5,"method":"eth_call"}',
        call('x', 'c'),
        'null',
      ),
    )
    expect(answers.map((item) => [item.id, item.result ?? [item.error?.code, reasonOf(item)]])).toEqual([
      [null, [-32600, 'invalid_request']],
      [1, 'a'],
      [null, [-32600, 'invalid_request']],
      [2, [-32601, 'method_not_found']],
      [3, [-32602, 'invalid_params']],
      [null, [-32600, 'invalid_request']],
      ['x', 'c'],
      [null, [-32600, 'invalid_request']],
    ])
  })

  test('leaves its notifications out, but runs them', async () => {
    const note = '{"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["0x01"]}'
    const answers = await ask(batchOf(note, call(1, 'a'), note))
    expect(answers.map(({ id }) => id)).toEqual([1])
    expect(upstream.bodies.filter((body) => body.includes('eth_sendRawTransaction')).length).toBe(2)
  })

  test('of notifications alone is answered 204 after they were run', async () => {
    const answer = await post(address, batchOf('{"jsonrpc":"2.0","method":"eth_call","params":["n"]}'))
    expect([answer.status, answer.text, upstream.bodies.length]).toEqual([204, '', 1])
  })

  test('of one call is still answered by an array', async () => {
    expect(await ask(batchOf(call(1, 'a')))).toEqual([{ jsonrpc: '2.0', id: 1, result: 'a' }])
  })

  test('any mix of items is answered item by item, in order', async () => {
    const kinds = ['light', 'heavy', 'write', 'note', 'rejected', 'rubbish'] as const
    const itemOf = (kind: (typeof kinds)[number], index: number): string =>
      ({
        light: call(index, index),
        heavy: call(index, index, 'eth_getLogs'),
        write: call(index, index, 'eth_sendRawTransaction'),
        note: `{"jsonrpc":"2.0","method":"eth_call","params":[${index}]}`,
        rejected: call(index, index, 'eth_sign'),
        rubbish: '"rubbish"',
      })[kind]
    const expected = (kind: (typeof kinds)[number], index: number): unknown[] => {
      if (kind === 'note') return []
      if (kind === 'rejected') return [[index, -32601]]
      return kind === 'rubbish' ? [[null, -32600]] : [[index, index]]
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 40 }), async (mix) => {
        const answer = await post(address, batchOf(...mix.map(itemOf)))
        const answers = answer.status === 204 ? [] : (JSON.parse(answer.text) as Answered[])
        expect(answers.map((item) => [item.id, item.result ?? item.error?.code])).toEqual(mix.flatMap(expected))
      }),
      { numRuns: 60 },
    )
  })
})

describe('one call of a batch', () => {
  const nine = indices(9)
  const others = (answers: readonly Answered[]): unknown[] =>
    answers.filter(({ id }) => id !== 'bad').map((item) => item.result)
  const withBad = batchOf(
    ...nine.slice(0, 5).map((index) => call(index, index)),
    call('bad', 'bad'),
    ...nine.slice(5).map((index) => call(index, index)),
  )
  const isBad = (seen: SeenCall): boolean => (seen.params as unknown[])[0] === 'bad'

  test.each([
    ['that hangs', 'upstream_timeout', () => undefined],
    ['that the node answers by another id', 'upstream_bad', (seen: SeenCall) => result({ ...seen, id: 0 }, '1')],
    [
      'that the node answers with neither result nor error',
      'upstream_bad',
      (seen: SeenCall) => `{"jsonrpc":"2.0","id":${seen.id}}`,
    ],
    ['that spoils the JSON', 'upstream_bad', (seen: SeenCall) => result(seen, '{').slice(0, -1)],
    ['that is too large', 'response_too_large', (seen: SeenCall) => result(seen, `"${'x'.repeat(1_000_001)}"`)],
  ] as const)('%s touches no other', async (_, reason, behave) => {
    upstream.behave = (seen) => (isBad(seen) ? behave(seen) : echo(seen))
    const pending = ask(withBad)
    if (reason === 'upstream_timeout') {
      await until(() => upstream.bodies.length === 1)
      // The batch gets half of the time, and each of its calls alone the rest.
      pass(timeoutMs / 2)
      await until(() => upstream.bodies.length === 11)
      // By the time another call has its response, the gateway has read those of the nine.
      await ask(batchOf(call(3, 3)))
      pass(timeoutMs / 2)
    }
    const answers = await pending
    expect(others(answers)).toEqual(nine)
    expect([answers[5]?.id, reasonOf(answers[5])]).toEqual(['bad', reason])
  })

  test('that is too large leaves room for others that are nearly so', async () => {
    upstream.behave = (seen) => result(seen, `"${'x'.repeat(isBad(seen) ? 1_000_001 : 90_000)}"`)
    const answers = await ask(withBad)
    expect(others(answers)).toEqual(nine.map(() => 'x'.repeat(90_000)))
    expect(reasonOf(answers[5])).toBe('response_too_large')
  })

  test('that makes the node cut the connection touches no other', async () => {
    upstream.behave = (seen, response) => {
      if (!isBad(seen)) return echo(seen)
      response.socket?.resetAndDestroy()
      return undefined
    }
    const answers = await ask(withBad)
    expect(others(answers)).toEqual(nine)
    expect(reasonOf(answers[5])).toBe('upstream_bad')
  })

  test('that is answered twice is asked again by itself', async () => {
    let doubled = false
    upstream.behave = (seen) => {
      if (!isBad(seen) || doubled) return echo(seen)
      doubled = true
      return `${result(seen, '1')},${result(seen, '2')}`
    }
    const answers = await ask(withBad)
    expect(answers.map((item) => item.result)).toEqual([0, 1, 2, 3, 4, 'bad', 5, 6, 7, 8])
  })

  test.each(['eth_getLogs', 'eth_sendRawTransaction'])(
    '%s that hangs keeps the others waiting no longer than its own time',
    async (method) => {
      const received = new Set<unknown>()
      upstream.behave = (seen) => {
        received.add((seen.params as unknown[])[0])
        return seen.method === method ? undefined : echo(seen)
      }
      const pending = ask(batchOf(call(1, 1), call('bad', 'bad', method), call(2, 2)))
      await until(() => received.size === 3)
      // By the time another call has its response, the gateway has read those of the two.
      await ask(batchOf(call(3, 3)))
      pass(timeoutMs)
      const answers = await pending
      expect(answers.map((item) => item.result ?? reasonOf(item))).toEqual([1, 'upstream_timeout', 2])
    },
  )
})

describe('a node that takes no batches', () => {
  test.each([
    [
      'answers one error for all',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"batch too large"}}',
      200,
    ],
    ['answers 413', 'too large', 413],
    ['answers 500', 'oops', 500],
  ])('and %s gets the calls one by one', async (_, text, status) => {
    let batched = 0
    upstream.behave = (seen, response) => {
      if (upstream.bodies.at(-1)?.startsWith('[') && !response.writableEnded) {
        batched += 1
        response.statusCode = status
        response.end(text)
        return undefined
      }
      return echo(seen)
    }
    // Singles are told by their body; the next batch body would be the last one seen.
    const answers = await ask(batchOf(...indices(40).map((index) => call(index, index))))
    expect(answers.map((item) => item.result)).toEqual(indices(40))
    expect(batched).toBe(1)
  })
})

describe('raw transactions of one batch', () => {
  test('reach the node one after the other, in their order', async () => {
    let open = 0
    let most = 0
    upstream.behave = (seen, response) => {
      open += 1
      most = Math.max(most, open)
      setImmediate(() => {
        open -= 1
        response.end(echo(seen))
      })
      return undefined
    }
    const answers = await ask(batchOf(...indices(20).map((index) => call(index, index, 'eth_sendRawTransaction'))))
    expect(answers.map((item) => item.result)).toEqual(indices(20))
    expect(upstream.bodies.map((body) => (JSON.parse(body) as { params: number[] }).params[0])).toEqual(indices(20))
    expect(most).toBe(1)
  })
})

describe('a batch with no upstream', () => {
  test('is answered item by item as well', async () => {
    const alone = await startGateway({ testnet: [nothingThere] })
    const answer = await post(
      getApiKeyUrl(alone.url, 'testnet', alone.testnetKey),
      batchOf(
        ...indices(500).map((index) => call(index, index, index % 2 === 0 ? 'eth_call' : 'eth_sendRawTransaction')),
      ),
    )
    await alone.gateway.close({ graceMs: 0 })
    expect(answer.status).toBe(200)
    const answers = JSON.parse(answer.text) as Answered[]
    expect(answers.map((item) => [item.id, reasonOf(item)])).toEqual(
      indices(500).map((index) => [index, 'no_upstream']),
    )
  })
})
