import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { sendDown } from '../../test/scriptedEndpoint.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import type { Call, Complete } from './call/call.ts'
import { endWait, startWait } from './call/callProgress.ts'
import type { Endpoint } from './endpoint/http.ts'
import { safeWrites } from './safeWrites.ts'
import type { Keccak256, SafeWritesOptions } from './safeWrites.ts'
import type { Transport } from './transport.ts'
import { compose, deadline } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/v2/…'
const raw = '0x02f8'
const hash = `0x${'ab'.repeat(32)}` as const
const emptyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const keccak256: Keccak256 = (hex) => (hex === '0x' ? emptyHash : hash)
const send = 'eth_sendRawTransaction'
const find = 'eth_getTransactionByHash'
const getReceipt = 'eth_getTransactionReceipt'
const found = { hash, blockNumber: null }

interface Sent {
  readonly call: Call
  readonly complete: Complete
  readonly at: number
  stopped?: unknown
}

let sent: Sent[]
const endpoint: Endpoint = {
  redactedUrl,
  close: () => {},
  send: (call, complete) => {
    const entry: Sent = { call, complete, at: now() }
    sent.push(entry)
    call.cancel = (reason) => {
      entry.stopped = reason ?? 'no longer wanted'
      complete(false, reason)
    }
  },
}
let transport: Transport
const make = (options?: Partial<SafeWritesOptions>): Transport =>
  compose(endpoint, safeWrites({ keccak256, resends: 2, ...options }), deadline({ timeoutMs: 20_000 }))

/** Starts a write. Its outcome becomes `{ value }` or `{ error }`. */
const startWrite = (
  method = send,
  params: unknown[] = [raw],
  signal?: AbortSignal,
): { value?: unknown; error?: unknown } => {
  const outcome: { value?: unknown; error?: unknown } = {}
  transport.request({ method, params }, { signal }).then(
    (value) => (outcome.value = value),
    (error: unknown) => (outcome.error = error),
  )
  return outcome
}
const tick = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)
const sentMethods = (): string[] => sent.map(({ call }) => call.method)
const last = (): Sent => sent.at(-1) as Sent

/** Completes the latest call as the endpoint with this name. */
const completeAt = async (at: string | undefined, ok: boolean, value: unknown): Promise<void> => {
  const { call, complete } = last()
  if (at) call.emit?.({ type: 'attempted', redactedUrl: at, durationMs: 1 })
  complete(ok, value)
  await tick()
}
const response = (value: unknown, at?: string): Promise<void> => completeAt(at, true, value)
const fail = (facts: FailureFacts, at?: string): Promise<void> =>
  completeAt(at, false, createFailure(facts, { method: last().call.method, redactedUrl: at ?? redactedUrl }))

const rpc = (message: string, code = -32000): FailureFacts => ({
  text: message,
  status: 200,
  rpcError: { code, message },
})
const known = rpc('already known')
const nonceTooLow = rpc('nonce too low')
const lost: FailureFacts = { kind: 'network', text: 'socket hang up' }

const ambiguous: [string, FailureFacts][] = [
  ['a lost connection', lost],
  ['a timeout of an attempt', { kind: 'timeout', text: 'no response within 3000 ms of one attempt' }],
  ['a broken response', { kind: 'badResponse', text: 'an empty body', status: 200 }],
  ['a server that is down', { text: 'Bad Gateway', status: 502 }],
  ['a 503 page about a rate limit', { text: 'too many requests', status: 503 }],
  ['a 502 page about a key', { text: 'unauthorized', status: 502 }],
  ['a rate limit that only the message names', rpc('too many requests')],
  ['an error of no known kind', rpc('what is this', -39999)],
]

beforeEach(() => {
  vi.useFakeTimers()
  sent = []
  transport = make()
})
afterEach(async () => {
  await tick()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('safeWrite', () => {
  test('sends an accepted transaction once, without look-ups', async () => {
    const outcome = startWrite()
    await response(hash)
    expect(outcome).toEqual({ value: hash })
    expect(sent.map(({ call }) => [call.method, call.params])).toEqual([[send, `["${raw}"]`]])
  })

  test('sets no timer in the past if the deadline passed while the hash was computed', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { call } = sendDown(safeWrites({ keccak256 })(endpoint.send, { redactedUrl }), send, {
      params: JSON.stringify([raw]),
      deadlineAt: now() - 100,
    })
    expect(sentMethods()).toEqual([send])
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([1])
    call.cancel?.('over')
    timers.mockRestore()
  })

  test('accepts a hash in upper case', async () => {
    const outcome = startWrite()
    await response(hash.toUpperCase().replace('0X', '0x'))
    expect(sentMethods()).toEqual([send])
    expect(String(outcome.value).toLowerCase()).toBe(hash)
  })

  test('passes on every other call unchanged', async () => {
    for (const method of ['eth_sendTransaction', 'eth_chainId', 'eth_sendRawTransactionConditional']) {
      const outcome = startWrite(method, ['0x'])
      await response('0x1')
      expect(outcome).toEqual({ value: '0x1' })
    }
  })

  test('passes on a transaction of a type that ZKsync hashes in its own way unchanged', async () => {
    const outcome = startWrite(send, ['0x71f8'])
    await fail(nonceTooLow)
    expect(outcome.error).toMatchObject({ kind: 'txRejected' })
    expect(outcome.error).not.toHaveProperty('transactionHash')
    expect(sentMethods()).toEqual([send])
  })

  test.each([[[]], [['0x']], [['0xzz']], [[null]], [[{ to: '0x1' }]]])(
    'rejects %j before anything is sent',
    async (params) => {
      const outcome = startWrite(send, params)
      await tick()
      expect(outcome.error).toMatchObject({ kind: 'invalidRequest', source: 'client' })
      expect(sent).toEqual([])
    },
  )

  test('treats "already known" as success once the transaction was found', async () => {
    const outcome = startWrite()
    await fail(known)
    expect(sentMethods()).toEqual([send, find])
    expect(outcome).toEqual({})
    await response(found)
    expect(outcome).toEqual({ value: hash })
  })

  test('reports no success if a node responds "already known" for a transaction that it has just rejected', async () => {
    const outcome = startWrite()
    await fail(known, 'one')
    await response(null, 'one')
    expect(outcome).toEqual({})
    await tick(2_000)
    await response(null, 'one')
    // The node has dropped the transaction with the next block, and checks it again.
    expect(sentMethods()).toEqual([send, find, find, send])
    await fail(rpc('insufficient funds for gas * price + value'), 'one')
    await response(null, 'one')
    expect(outcome.error).toMatchObject({ kind: 'txRejected', transactionHash: hash })
  })

  test('reports a transaction as unconfirmed if it is "already known" but not found', async () => {
    transport = make({ resends: 0 })
    const outcome = startWrite()
    await fail(known)
    await response(null)
    await tick(2_000)
    await response(null)
    expect(outcome.error).toMatchObject({
      kind: 'unconfirmed',
      transactionHash: hash,
      rpcError: { message: 'already known' },
    })
  })

  test('never reports a transaction as rejected that is in the chain', async () => {
    const outcome = startWrite()
    await fail(nonceTooLow)
    expect(sentMethods()).toEqual([send, find])
    expect(last().call.params).toBe(`["${hash}"]`)
    expect(outcome).toEqual({})
    await response({ ...found, hash: hash.toUpperCase().replace('0X', '0x') })
    expect(outcome).toEqual({ value: hash })
  })

  test.each(ambiguous)('looks the transaction up after %s', async (_, facts) => {
    const outcome = startWrite()
    await fail(facts)
    expect(sentMethods()).toEqual([send, find])
    await response(found)
    expect(outcome).toEqual({ value: hash })
  })

  test.each<[string, FailureFacts]>([
    ['auth', { text: 'no', status: 401 }],
    ['quota', { text: 'Payment Required', status: 402 }],
    ['throttled', { text: 'Too Many Requests', status: 429 }],
    ['methodUnavailable', rpc('the method does not exist', -32601)],
    ['invalidRequest', rpc('invalid argument 0: rlp', -32602)],
    ['network', { ...lost, unsent: true }],
  ])('reports %s at once if it cannot have arrived, with its hash', async (kind, facts) => {
    const outcome = startWrite()
    await fail(facts)
    expect(outcome.error).toMatchObject({ kind, transactionHash: hash })
    expect(sentMethods()).toEqual([send])
  })

  test('passes on a failure of the user\u2019s layer unchanged', async () => {
    const error = new RangeError('mine')
    const outcome = startWrite()
    await completeAt(undefined, false, error)
    expect(outcome.error).toBe(error)
  })

  describe('after a rejection', () => {
    test('accepts "not found" at once from the endpoint that rejected it', async () => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      await response(null, 'one')
      expect(outcome.error).toMatchObject({
        kind: 'txRejected',
        transactionHash: hash,
        rpcError: { code: -32000, message: 'nonce too low' },
        retryable: false,
      })
      expect(sentMethods()).toEqual([send, find])
    })

    test.each([
      ['another endpoint', 'two'],
      ['one that is not known', undefined],
    ])('accepts "not found" from %s only if it comes twice, 2 s apart', async (_, at) => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      await response(null, at)
      await tick(1_999)
      expect(sentMethods()).toEqual([send, find])
      await tick(1)
      expect(sentMethods()).toEqual([send, find, find])
      expect(outcome).toEqual({})
      await response(null, at)
      expect(outcome.error).toMatchObject({ kind: 'txRejected', transactionHash: hash })
    })

    test('finds it at the second look-up', async () => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      await response(null, 'two')
      await tick(2_000)
      await response(found, 'two')
      expect(outcome).toEqual({ value: hash })
    })

    test('does not confuse the endpoints of two look-ups', async () => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      await fail(lost, 'one')
      await tick(2_000)
      await response(null)
      expect(outcome).toEqual({})
      await tick(2_000)
      await response(null)
      expect(outcome.error).toMatchObject({ kind: 'txRejected' })
    })

    test('returns the node\u2019s error if the time is up before the look-up', async () => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      await tick(20_000)
      expect(outcome.error).toMatchObject({
        kind: 'unconfirmed',
        transactionHash: hash,
        rpcError: { message: 'nonce too low' },
      })
    })

    test('is never resent', async () => {
      const outcome = startWrite()
      await fail(rpc('insufficient funds for gas * price + value'))
      await response(null)
      await tick(2_000)
      await response(null)
      expect(outcome.error).toMatchObject({ kind: 'txRejected' })
      expect(sentMethods().filter((method) => method === send)).toHaveLength(1)
    })

    test.each([
      'Post "https://sequencer.example": EOF',
      '502 Bad Gateway',
      'dial tcp 10.0.0.1:8545: connect: connection refused',
      'error after broadcast',
    ])('reports unconfirmed for a relayed failure under -32000 that is not found: %s', async (message) => {
      transport = make({ resends: 0 })
      const outcome = startWrite()
      await fail({ text: message, status: 200, rpcError: { code: -32000, message } })
      for (let look = 0; look < 3 && !outcome.error; look++) {
        expect(last().call.method).toBe(find)
        await response(null)
        await tick(2_000)
      }
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', retryable: false, transactionHash: hash })
    })

    test('is reported as unconfirmed if the look-up fails', async () => {
      const outcome = startWrite()
      await fail(nonceTooLow, 'one')
      for (let look = 0; look < 3; look++) {
        await fail(lost, 'one')
        await tick(2_000)
      }
      expect(outcome.error).toMatchObject({
        kind: 'unconfirmed',
        transactionHash: hash,
        rpcError: { message: 'nonce too low' },
        retryable: false,
      })
      expect(sentMethods()).toEqual([send, find, find, find])
    })
  })

  describe('after a failure with an unknown outcome', () => {
    test('resends only after two look-ups, 2 s apart, even at the same endpoint', async () => {
      const outcome = startWrite()
      await fail(lost, 'one')
      await response(null, 'one')
      expect(sentMethods()).toEqual([send, find])
      await tick(2_000)
      await response(null, 'one')
      expect(sentMethods()).toEqual([send, find, find, send])
      expect((sent[2] as Sent).at - (sent[1] as Sent).at).toBeGreaterThanOrEqual(2_000)
      await response(hash)
      expect(outcome).toEqual({ value: hash })
    })

    test('waits for a resend as for the first send', async () => {
      const outcome = startWrite()
      await fail(lost)
      await response(null)
      await tick(2_000)
      await response(null)
      expect(last().call.method).toBe(send)
      // It hangs, and is looked up after half of the remaining time.
      await tick(9_000)
      for (let look = 0; look < 3; look++) {
        await response(null)
        await tick(2_000)
      }
      expect(sentMethods().filter((method) => method === send)).toHaveLength(2)
      await response(found)
      expect(outcome).toEqual({ value: hash })
    })

    test('treats "already known" after a resend as success once the transaction was found', async () => {
      const outcome = startWrite()
      await fail(lost)
      await response(null)
      await tick(2_000)
      await response(null)
      await fail(known)
      expect(outcome).toEqual({})
      await response(found)
      expect(outcome).toEqual({ value: hash })
    })

    const lose = async (): Promise<void> => {
      await fail(lost)
      await response(null)
      await tick(2_000)
      await response(null)
    }
    test.each([undefined, 0, 1, 2])(
      'sends again %s times at most, by default never, and then says that it is unconfirmed',
      async (given) => {
        transport = make({ resends: given })
        const resends = given ?? 0
        const outcome = startWrite()
        for (let n = 0; n <= resends; n++) {
          expect(last().call.method).toBe(send)
          await lose()
        }
        expect(outcome.error).toMatchObject({
          kind: 'unconfirmed',
          source: 'client',
          transactionHash: hash,
          redactedUrl,
        })
        expect(String(outcome.error)).toContain(hash)
        expect(sentMethods().filter((method) => method === send)).toHaveLength(resends + 1)
      },
    )

    test('does not resend if the look-up failed', async () => {
      const outcome = startWrite()
      await fail(lost)
      await response(null)
      await tick(2_000)
      await fail(lost)
      await tick(2_000)
      await fail(lost)
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', transactionHash: hash })
      expect(sentMethods()).toEqual([send, find, find, find])
    })

    test('counts two look-ups that found emptyHash, even with failures in between', async () => {
      const outcome = startWrite()
      await fail(lost)
      await response(null)
      await tick(2_000)
      await fail(lost)
      await tick(2_000)
      await response(null)
      expect(last().call.method).toBe(send)
      await response(hash)
      expect(outcome).toEqual({ value: hash })
    })

    test.each<[string, unknown]>([
      ['another transaction', { hash: `0x${'cd'.repeat(32)}` }],
      ['something else', { ok: true }],
      ['a bare hash', hash],
    ])('does not trust a look-up that returns %s', async (_, value) => {
      const outcome = startWrite()
      await fail(lost)
      for (let look = 0; look < 3; look++) {
        await response(value)
        await tick(2_000)
      }
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed' })
      expect(sentMethods()).toEqual([send, find, find, find])
    })
  })

  describe('a node that responds with another hash', () => {
    test.each([`0x${'cd'.repeat(32)}`, null, true, found])('is not trusted: %j', async (value) => {
      const outcome = startWrite()
      await response(value)
      expect(sentMethods()).toEqual([send, find])
      await response(found)
      expect(outcome).toEqual({ value: hash })
    })

    test('is believed for a type that a single chain has, which may hash it in its own way', async () => {
      const other = `0x${'cd'.repeat(32)}`
      const outcome = startWrite(send, ['0x7fc0'])
      await response(other)
      expect(outcome).toEqual({ value: other })
      expect(sentMethods()).toEqual([send])
    })

    test.each([null, true, '0x1'])('is not believed for such a type if it is no hash: %j', async (value) => {
      transport = make({ resends: 0 })
      const outcome = startWrite(send, ['0x7fc0'])
      await response(value)
      expect(sentMethods()).toEqual([send, find])
      await response(null)
      await tick(2_000)
      await response(null)
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed' })
    })

    test('is reported as unconfirmed if the transaction is not found', async () => {
      transport = make({ resends: 0 })
      const outcome = startWrite()
      await response(`0x${'cd'.repeat(32)}`)
      await response(null)
      await tick(2_000)
      await response(null)
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', transactionHash: hash })
      expect(String(outcome.error)).toContain('badResponse')
    })
  })

  describe('a send that hangs', () => {
    test('is looked up from half of its time on, and canceled once it is found', async () => {
      const outcome = startWrite()
      await tick(9_999)
      expect(sentMethods()).toEqual([send])
      await tick(1)
      expect(sentMethods()).toEqual([send, find])
      await response(null)
      await tick(2_000)
      expect(sent[0]).not.toHaveProperty('stopped')
      await response(found)
      expect(outcome).toEqual({ value: hash })
      expect(sent[0]).toHaveProperty('stopped')
      expect(sent[0]?.call.ended).toBe(true)
    })

    test('is not resent, even if several look-ups find emptyHash', async () => {
      const outcome = startWrite()
      await tick(10_000)
      for (let look = 0; look < 4; look++) {
        await response(null)
        await tick(2_000)
      }
      expect(sentMethods().filter((method) => method === send)).toHaveLength(1)
      await tick(2_000)
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', transactionHash: hash })
    })

    test('that gets a late response ends the look-ups', async () => {
      const outcome = startWrite()
      await tick(10_000)
      sent[0]?.complete(true, hash)
      await tick()
      expect(outcome).toEqual({ value: hash })
      expect(sent[1]).toHaveProperty('stopped')
    })

    test('that fails in the end is looked up again: earlier look-ups do not count', async () => {
      const outcome = startWrite()
      await tick(10_000)
      await response(null)
      await tick(2_000)
      sent[0]?.complete(false, createFailure(lost, { method: send, redactedUrl }))
      await tick()
      expect(sentMethods()).toEqual([send, find, find, find])
      expect(sent[2]).toHaveProperty('stopped')
      await response(null)
      await tick(2_000)
      await response(null)
      expect(last().call.method).toBe(send)
      await response(hash)
      expect(outcome).toEqual({ value: hash })
    })

    test('in our queue is not looked up before it is sent', async () => {
      const outcome = startWrite()
      const { call } = sent[0] as Sent
      const entry = { since: now() }
      startWait(call, entry)
      await tick(14_000)
      expect(sentMethods()).toEqual([send])
      endWait(call, entry, now())
      await tick(2_000)
      expect(sentMethods()).toEqual([send, find])
      await response(found)
      expect(outcome).toEqual({ value: hash })
    })
  })

  describe('a caller that leaves', () => {
    const stages: [string, () => Promise<void>][] = [
      ['while it is sent', () => tick().then(() => {})],
      ['while it is looked up', () => fail(lost)],
      ['between two looks', () => fail(lost).then(() => response(null))],
      ['while it hangs and is looked up', () => tick(10_000).then(() => {})],
    ]
    test.each(stages)('by abort %s gets its own reason, and emptyHash more is sent', async (_, reach) => {
      const controller = new AbortController()
      const outcome = startWrite(send, [raw], controller.signal)
      await reach()
      const count = sent.length
      controller.abort('enough')
      await tick(30_000)
      expect(outcome).toEqual({ error: 'enough' })
      expect(sent).toHaveLength(count)
    })

    test.each(stages)('by deadline %s gets the hash', async (_, reach) => {
      const outcome = startWrite()
      await reach()
      // No further call gets a response.
      await tick(30_000)
      expect(outcome.error).toMatchObject({
        kind: 'unconfirmed',
        source: 'client',
        retryable: false,
        transactionHash: hash,
      })
      expect(sent.filter(({ call }) => !call.ended && call.cancel)).toHaveLength(
        sent.filter(({ stopped }) => !stopped).length,
      )
    })

    test('with one of our errors as the reason still gets that reason', async () => {
      const controller = new AbortController()
      const reason = createFailure({ kind: 'timeout', text: 'of another call' }, { method: 'eth_call', redactedUrl })
      const outcome = startWrite(send, [raw], controller.signal)
      controller.abort(reason)
      await tick()
      expect(outcome.error).toBe(reason)
    })

    test('by closing the transport fails with that reason', async () => {
      const outcome = startWrite()
      transport.close()
      await tick(30_000)
      expect(outcome.error).toMatchObject({ kind: 'aborted' })
      expect(sentMethods()).toEqual([send])
    })
  })

  test('sends a transaction and its look-ups in one group, with the priority of writes and the caller\u2019s deadline', async () => {
    const outcome = startWrite()
    await fail(lost)
    const [first, second] = sent.map(({ call }) => call)
    expect(second?.group).toBeDefined()
    expect(second?.group).toBe(first?.group)
    expect(second?.options).toMatchObject({ priority: 'write' })
    expect(second?.deadlineAt).toBeCloseTo(first?.deadlineAt as number)
    expect(second).not.toBe(first)
    await response(found)
    startWrite()
    expect(last().call.group).not.toBe(first?.group)
    await response(hash)
    expect(outcome).toEqual({ value: hash })
  })

  test('reports the events of its own calls to the caller\u2019s observer', async () => {
    const events: unknown[] = []
    const noting = compose(endpoint, safeWrites({ keccak256 }), (next) => (call, complete) => {
      next(Object.assign(call, { emit: (event: unknown) => events.push(event) }), complete)
    })
    const value = noting.request({ method: send, params: [raw] })
    await fail(lost, 'one')
    await response(found, 'two')
    expect(await value).toBe(hash)
    expect(events).toMatchObject([{ redactedUrl: 'one' }, { redactedUrl: 'two' }])
  })

  describe('eth_sendRawTransactionSync', () => {
    const sync = 'eth_sendRawTransactionSync'
    const receipt = { transactionHash: hash, status: '0x1' }

    test('returns the receipt', async () => {
      const outcome = startWrite(sync)
      await response(receipt)
      expect(outcome).toEqual({ value: receipt })
      expect(sentMethods()).toEqual([sync])
    })

    test.each([
      ...ambiguous,
      ['a rejection', nonceTooLow] as [string, FailureFacts],
      ['"already known"', known] as [string, FailureFacts],
    ])('looks for the receipt after %s', async (_, facts) => {
      const outcome = startWrite(sync)
      await fail(facts)
      expect(sentMethods()).toEqual([sync, getReceipt])
      await response(receipt)
      expect(outcome).toEqual({ value: receipt })
    })

    test('rejects the receipt of another transaction', async () => {
      const outcome = startWrite(sync)
      await response({ ...receipt, transactionHash: `0x${'cd'.repeat(32)}` })
      await response(receipt)
      expect(outcome).toEqual({ value: receipt })
    })

    test('waits for the receipt until the deadline, and never resends', async () => {
      const outcome = startWrite(sync)
      await fail(lost)
      for (let look = 0; look < 9; look++) {
        await response(null)
        await tick(2_000)
      }
      expect(outcome).toEqual({})
      await tick(2_000)
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', transactionHash: hash })
      expect(new Set(sentMethods().slice(1))).toEqual(new Set([getReceipt]))
    })

    test('stops waiting without a deadline, too', async () => {
      transport = compose(endpoint, safeWrites({ keccak256 }))
      const outcome = startWrite(sync)
      await fail(known)
      for (let look = 0; look < 30; look++) {
        await response(null)
        await tick(2_000)
      }
      expect(outcome.error).toMatchObject({ kind: 'unconfirmed', transactionHash: hash })
    })

    test('reports a rejection if there is no receipt', async () => {
      const outcome = startWrite(sync)
      await fail(nonceTooLow, 'one')
      await response(null, 'one')
      expect(outcome.error).toMatchObject({ kind: 'txRejected', transactionHash: hash })
    })
  })

  test.each<[string, unknown]>([
    ['no options', undefined],
    ['no function', {}],
    ['another hash', { keccak256: () => hash }],
    ['one that takes bytes', { keccak256: (bytes: Uint8Array) => bytes.subarray(0) }],
  ])('rejects %s', (_, options) => {
    expect(() => safeWrites(options as SafeWritesOptions)).toThrow(
      'keccak256 must be a function that returns the Keccak-256',
    )
  })

  test('rejects an invalid number of resends', () => {
    expect(() => safeWrites({ keccak256, resends: -1 })).toThrow('resends must be a number from 0 to 100')
  })
})
