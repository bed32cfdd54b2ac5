import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { getApiKeyUrl } from '../src/index.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { chainIds, post, unreachableUrl, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
let rpcUrl: string

const timeoutMs = 1_500
/** Advances the gateway's clock, which is stopped otherwise. */
let pass: (ms: number) => void

beforeAll(async () => {
  pass = controlTime()
  upstream = await startFakeUpstream(chainIds.testnet)
  started = await startGateway(
    { testnet: [upstream.url] },
    { bounds: { upstreamTimeoutMs: timeoutMs, maxResponseBytes: 1_000_000 } },
  )
  rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
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

/** Responds with the first param, so that a response to the wrong call is noticed. */
const echo = (call: SeenCall): string => result(call, JSON.stringify((call.params as unknown[])[0] ?? null))

const call = (id: number | string | null, param: unknown, method = 'eth_call'): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: [param] })
const toBatch = (...calls: readonly string[]): string => `[${calls.join(',')}]`
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

interface RpcResponse {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: { readonly reason: string } }
}
const sendBatch = async (body: string): Promise<RpcResponse[]> => {
  const response = await post(rpcUrl, body)
  expect(response.status).toBe(200)
  return JSON.parse(response.text) as RpcResponse[]
}
const getReason = (response: RpcResponse | undefined): unknown => response?.error?.data.reason

describe('a batch', () => {
  test('has its responses in the order of its calls', async () => {
    const responses = await sendBatch(toBatch(...range(250).map((index) => call(index, `p${index}`))))
    expect(responses).toEqual(range(250).map((index) => ({ jsonrpc: '2.0', id: index, result: `p${index}` })))
    expect(upstream.bodies.map((body) => (JSON.parse(body) as unknown[]).length)).toEqual([100, 100, 50])
  })

  test('has this order also if the node responds in another one', async () => {
    upstream.reversed = true
    const responses = await sendBatch(toBatch(...range(20).map((index) => call(index, `p${index}`))))
    upstream.reversed = false
    expect(responses.map((response) => [response.id, response.result])).toEqual(
      range(20).map((index) => [index, `p${index}`]),
    )
    expect(upstream.bodies.length).toBe(1)
  })

  test('of invalid, unavailable, malformed and valid calls gets a response to each', async () => {
    const responses = await sendBatch(
      toBatch(
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
    expect(
      responses.map((response) => [response.id, response.result ?? [response.error?.code, getReason(response)]]),
    ).toEqual([
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

  test('has no responses to its notifications, but runs them', async () => {
    const note = '{"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["0x01"]}'
    const responses = await sendBatch(toBatch(note, call(1, 'a'), note))
    expect(responses.map(({ id }) => id)).toEqual([1])
    expect(upstream.bodies.filter((body) => body.includes('eth_sendRawTransaction')).length).toBe(2)
  })

  test('of notifications only gets 204 after they ran', async () => {
    const response = await post(rpcUrl, toBatch('{"jsonrpc":"2.0","method":"eth_call","params":["n"]}'))
    expect([response.status, response.text, upstream.bodies.length]).toEqual([204, '', 1])
  })

  test('of one call gets an array too', async () => {
    expect(await sendBatch(toBatch(call(1, 'a')))).toEqual([{ jsonrpc: '2.0', id: 1, result: 'a' }])
  })

  test('of any mix of calls gets a response to each, in order', async () => {
    const kinds = ['cheap', 'expensive', 'write', 'notification', 'rejected', 'invalid'] as const
    const createCall = (kind: (typeof kinds)[number], index: number): string =>
      ({
        cheap: call(index, index),
        expensive: call(index, index, 'eth_getLogs'),
        write: call(index, index, 'eth_sendRawTransaction'),
        notification: `{"jsonrpc":"2.0","method":"eth_call","params":[${index}]}`,
        rejected: call(index, index, 'eth_sign'),
        invalid: '"invalid"',
      })[kind]
    const expected = (kind: (typeof kinds)[number], index: number): unknown[] => {
      if (kind === 'notification') return []
      if (kind === 'rejected') return [[index, -32601]]
      return kind === 'invalid' ? [[null, -32600]] : [[index, index]]
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 40 }), async (mix) => {
        const response = await post(rpcUrl, toBatch(...mix.map(createCall)))
        const responses = response.status === 204 ? [] : (JSON.parse(response.text) as RpcResponse[])
        expect(responses.map((response) => [response.id, response.result ?? response.error?.code])).toEqual(
          mix.flatMap(expected),
        )
      }),
      { numRuns: 60 },
    )
  })
})

describe('one call of a batch', () => {
  const nine = range(9)
  const others = (responses: readonly RpcResponse[]): unknown[] =>
    responses.filter(({ id }) => id !== 'bad').map((response) => response.result)
  const withBad = toBatch(
    ...nine.slice(0, 5).map((index) => call(index, index)),
    call('bad', 'bad'),
    ...nine.slice(5).map((index) => call(index, index)),
  )
  const isBad = (seen: SeenCall): boolean => (seen.params as unknown[])[0] === 'bad'

  test.each([
    ['that hangs', 'upstream_timeout', () => undefined],
    ['that gets another id from the node', 'upstream_bad', (seen: SeenCall) => result({ ...seen, id: 0 }, '1')],
    [
      'that gets neither result nor error from the node',
      'upstream_bad',
      (seen: SeenCall) => `{"jsonrpc":"2.0","id":${seen.id}}`,
    ],
    ['that breaks the JSON', 'upstream_bad', (seen: SeenCall) => result(seen, '{').slice(0, -1)],
    ['that is too large', 'response_too_large', (seen: SeenCall) => result(seen, `"${'x'.repeat(1_000_001)}"`)],
  ] as const)('%s affects no other', async (_, reason, behave) => {
    upstream.behave = (seen) => (isBad(seen) ? behave(seen) : echo(seen))
    const pending = sendBatch(withBad)
    if (reason === 'upstream_timeout') {
      await until(() => upstream.bodies.length === 1)
      // The batch gets half of the time, and each single call the rest.
      pass(timeoutMs / 2)
      await until(() => upstream.bodies.length === 11)
      // By the time another call has its response, the gateway has read those of the nine.
      await sendBatch(toBatch(call(3, 3)))
      pass(timeoutMs / 2)
    }
    const responses = await pending
    expect(others(responses)).toEqual(nine)
    expect([responses[5]?.id, getReason(responses[5])]).toEqual(['bad', reason])
  })

  test('that is too large leaves room for others that are almost too large', async () => {
    upstream.behave = (seen) => result(seen, `"${'x'.repeat(isBad(seen) ? 1_000_001 : 90_000)}"`)
    const responses = await sendBatch(withBad)
    expect(others(responses)).toEqual(nine.map(() => 'x'.repeat(90_000)))
    expect(getReason(responses[5])).toBe('response_too_large')
  })

  test('that makes the node cut the connection affects no other', async () => {
    upstream.behave = (seen, response) => {
      if (!isBad(seen)) return echo(seen)
      response.socket?.resetAndDestroy()
      return undefined
    }
    const responses = await sendBatch(withBad)
    expect(others(responses)).toEqual(nine)
    expect(getReason(responses[5])).toBe('upstream_bad')
  })

  test('that gets two responses is retried as a single call', async () => {
    let repeated = false
    upstream.behave = (seen) => {
      if (!isBad(seen) || repeated) return echo(seen)
      repeated = true
      return `${result(seen, '1')},${result(seen, '2')}`
    }
    const responses = await sendBatch(withBad)
    expect(responses.map((response) => response.result)).toEqual([0, 1, 2, 3, 4, 'bad', 5, 6, 7, 8])
  })

  test.each(['eth_getLogs', 'eth_sendRawTransaction'])(
    '%s that hangs delays the others at most by its own timeout',
    async (method) => {
      const received = new Set<unknown>()
      upstream.behave = (seen) => {
        received.add((seen.params as unknown[])[0])
        return seen.method === method ? undefined : echo(seen)
      }
      const pending = sendBatch(toBatch(call(1, 1), call('bad', 'bad', method), call(2, 2)))
      await until(() => received.size === 3)
      // By the time another call has its response, the gateway has read those of the two.
      await sendBatch(toBatch(call(3, 3)))
      pass(timeoutMs)
      const responses = await pending
      expect(responses.map((response) => response.result ?? getReason(response))).toEqual([1, 'upstream_timeout', 2])
    },
  )
})

describe('a node that does not support batches', () => {
  test.each([
    [
      'responds with one error for all',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"batch too large"}}',
      200,
    ],
    ['responds with 413', 'too large', 413],
    ['responds with 500', 'oops', 500],
  ])('and %s gets single calls', async (_, text, status) => {
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
    // The body that was seen last distinguishes a batch from a single call.
    const responses = await sendBatch(toBatch(...range(40).map((index) => call(index, index))))
    expect(responses.map((response) => response.result)).toEqual(range(40))
    expect(batched).toBe(1)
  })
})

describe('raw transactions of one batch', () => {
  test('reach the node one after the other, in their order', async () => {
    let open = 0
    let maxOpen = 0
    upstream.behave = (seen, response) => {
      open += 1
      maxOpen = Math.max(maxOpen, open)
      setImmediate(() => {
        open -= 1
        response.end(echo(seen))
      })
      return undefined
    }
    const responses = await sendBatch(
      toBatch(...range(20).map((index) => call(index, index, 'eth_sendRawTransaction'))),
    )
    expect(responses.map((response) => response.result)).toEqual(range(20))
    expect(upstream.bodies.map((body) => (JSON.parse(body) as { params: number[] }).params[0])).toEqual(range(20))
    expect(maxOpen).toBe(1)
  })
})

describe('a batch without an upstream', () => {
  test('gets a response to each call too', async () => {
    const lone = await startGateway({ testnet: [unreachableUrl] })
    const response = await post(
      getApiKeyUrl(lone.url, 'testnet', lone.testnetKey),
      toBatch(
        ...range(500).map((index) => call(index, index, index % 2 === 0 ? 'eth_call' : 'eth_sendRawTransaction')),
      ),
    )
    await lone.gateway.close({ graceMs: 0 })
    expect(response.status).toBe(200)
    const responses = JSON.parse(response.text) as RpcResponse[]
    expect(responses.map((response) => [response.id, getReason(response)])).toEqual(
      range(500).map((index) => [index, 'no_upstream']),
    )
  })
})
