import { isKeyrailError } from '@keyrail/core'
import type { CallOptions } from '@keyrail/core'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isReadMethod } from '../src/failure/isReadMethod.ts'
import { memoryFetch } from './memoryFetch.ts'
import type { Fetched, FetchReply } from './memoryFetch.ts'
import type { RpcCall } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions, FullTransport, TransportGroup } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const emptyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
/** Not a real hash, but a different value for each of the transactions below. */
const keccak256 = (hex: string): `0x${string}` => (hex === '0x' ? emptyHash : `0x${hex.slice(2).padEnd(64, 'd')}`)
const createRaw = (at: number): string => `0x02c0${at.toString(16).padStart(4, '0')}`

/** Params that identify the call, if the method allows it. */
const createParams: Record<string, (at: number) => readonly unknown[]> = {
  eth_getBalance: (at) => [`mine ${at}`, 'latest'],
  eth_getCode: (at) => [`mine ${at}`, '0x1'],
  eth_getLogs: (at) => [{ address: `mine ${at}` }],
  eth_getTransactionReceipt: (at) => [`0x${at.toString(16).padStart(64, '0')}`],
  eth_gasPrice: () => [],
  eth_blockNumber: () => [],
  eth_sendTransaction: (at) => [`mine ${at}`],
  eth_newFilter: (at) => [`mine ${at}`],
  eth_sendRawTransaction: (at) => [createRaw(at)],
}

/** The correct result of a call. */
const getResult = ({ method, params }: Pick<RpcCall, 'method' | 'params'>, known: ReadonlySet<string>): unknown => {
  if (method === 'eth_blockNumber') return '0x20'
  if (method === 'eth_sendRawTransaction') return keccak256(params[0] as string)
  if (method === 'eth_getTransactionByHash')
    return known.has(params[0] as string) ? { hash: params[0], blockNumber: null } : null
  if (method === 'eth_getTransactionReceipt') return { transactionHash: params[0], blockNumber: '0x1' }
  if (method === 'eth_getLogs') return { of: (params[0] as { address: string }).address }
  return { of: [method, params[0] ?? null] }
}

/** Faults of a request. `arrives`: whether a node may have accepted its calls. */
const faults: Record<string, { readonly arrives: boolean; readonly reply: (sent: Fetched) => FetchReply }> = {
  hang: { arrives: true, reply: () => ({ never: true }) },
  'a head and no more': { arrives: true, reply: () => ({ headOnly: true }) },
  break: { arrives: true, reply: () => ({ facts: { text: 'socket hang up' }, afterMs: 5 }) },
  page: { arrives: true, reply: () => ({ status: 502, text: '<title>502 Bad Gateway</title>' }) },
  busy: { arrives: true, reply: () => ({ status: 503, text: 'busy', headers: { 'retry-after': '1' } }) },
  empty: { arrives: true, reply: () => ({ text: '' }) },
  half: { arrives: true, reply: () => ({ text: '{"jsonrpc":"2.0","id":1,"resu' }) },
  'an id that was not requested': {
    arrives: true,
    reply: () => ({ text: '{"jsonrpc":"2.0","id":987654321,"result":"not mine"}' }),
  },
  'too many': { arrives: false, reply: () => ({ status: 429, text: 'Too Many Requests' }) },
  'too many, for long': {
    arrives: false,
    reply: () => ({ status: 429, text: 'Too Many Requests', headers: { 'retry-after': '30' } }),
  },
  'used up': { arrives: false, reply: () => ({ status: 402, text: 'Payment Required' }) },
  'no key': { arrives: false, reply: () => ({ status: 401, text: 'API key not found' }) },
  'no batches': { arrives: false, reply: () => ({ status: 413, text: 'batch too large' }) },
  'another chain': {
    arrives: true,
    reply: ({ rpcCalls, batched }) => {
      const items = rpcCalls.map(({ id }) => ({ jsonrpc: '2.0', id, result: 'of another chain' }))
      return { text: JSON.stringify(batched ? items : items[0]), headers: { 'x-chain-id': '999' } }
    },
  },
}

/** A time in milliseconds, or, in most cases, null for never. */
const rarely = (max: number): fc.Arbitrary<number | null> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.integer({ min: 0, max }) })

const planned = fc.record({
  method: fc.constantFrom(...Object.keys(createParams), 'eth_getBalance', 'eth_getCode', 'eth_getCode'),
  /** Calls with the same method and subject are identical, so that they can share requests. */
  subject: fc.integer({ min: 0, max: 5 }),
  atMs: fc.constantFrom(0, 0, 0, 3, 400),
  timeoutMs: fc.constantFrom(50, 1_000, 1_000, 5_000),
  abortAfterMs: rarely(1_500),
  priority: fc.constantFrom('write', 'read', 'poll', undefined, undefined, undefined),
  minBlock: fc.constantFrom(true, 0x18, undefined, undefined, undefined, undefined),
  /** How it is sent: by the transport or by a group, alone or in an explicit batch. */
  by: fc.constantFrom('transport', 'transport', 'group', 'batch', 'batch of the group'),
})

const scenario = fc.record({
  calls: fc.array(planned, { minLength: 1, maxLength: 16, size: 'max' }),
  fates: fc.array(fc.option(fc.constantFrom(...Object.keys(faults)), { freq: 2 }), { maxLength: 14, size: 'max' }),
  takesMs: fc.array(fc.constantFrom(1, 2, 20, 300), { minLength: 1, maxLength: 4 }),
  joining: fc.boolean(),
  shares: fc.boolean(),
  minBlock: fc.boolean(),
  hedge: fc.boolean(),
  safe: fc.boolean(),
  weighted: fc.boolean(),
  maxInFlight: fc.constantFrom(1, 2, 64),
  rate: fc.constantFrom(2, 20, undefined),
  closeGroupMs: rarely(800),
  closeMs: rarely(2_000),
})

const MAX_WAIT_MS = 3_000
/** The accuracy of timers, in milliseconds. */
const GRACE_MS = 25

/** A call that was made, with its outcome. */
interface Made {
  readonly method: string
  readonly params: readonly unknown[]
  readonly timeoutMs: number
  readonly startedAt: number
  readonly reason: object
  end?: { readonly ok: boolean; readonly value: unknown; readonly at: number }
  completions: number
}

test('every call ends once, before its deadline, with its own result or a correct failure, under random faults and aborts', async () => {
  const seen: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      vi.clearAllTimers()
      const known = new Set<string>()
      /** The number of requests with each write that may have arrived. */
      const taken = new Map<string, number>()
      /** Problems found in requests. Checked at the end, because an error thrown in a fetch would count as a network error. */
      const wrong: string[] = []
      let requests = 0
      let closedAt = Infinity

      const memory = memoryFetch((sent) => {
        if (performance.now() > closedAt) wrong.push('a request is sent after the transport was closed')
        const fate = given.fates[requests++]
        const fault = fate ? faults[fate] : undefined
        const afterMs = given.takesMs[requests % given.takesMs.length] as number
        for (const { method, params } of sent.rpcCalls) {
          if (isReadMethod(method)) continue
          if (sent.batched) wrong.push(`${method} is in a batch`)
          const write = method + JSON.stringify(params)
          const before = taken.get(write) ?? 0
          if (before > 0) wrong.push(`${write} is sent again, and may have arrived`)
          if (fault?.arrives !== false) {
            taken.set(write, before + 1)
            // The node has accepted it, even if the response is a fault.
            if (method === 'eth_sendRawTransaction') known.add(keccak256(params[0] as string))
          }
        }
        if (fault) return fault.reply(sent)
        const items = sent.rpcCalls.map((call) => ({ jsonrpc: '2.0', id: call.id, result: getResult(call, known) }))
        return { text: JSON.stringify(sent.batched ? items.toReversed() : items[0]), afterMs }
      })
      const ended = new Map<number, { readonly durationMs: number; readonly queuedMs: number; times: number }>()
      const onEnd = ({ id, durationMs, queuedMs }: { id: number; durationMs: number; queuedMs: number }): void => {
        ended.set(id, { durationMs, queuedMs, times: (ended.get(id)?.times ?? 0) + 1 })
      }
      const weights = given.weighted ? [{ weight: 2 }, { weight: 1 }] : [{}, {}]
      const transport: FullTransport = createFullTransport({
        endpoints: ['one', 'two'].map((name, at) => ({ url: `https://${name}.example`, chainId: 1, ...weights[at] })),
        fetch: memory.fetch,
        batch: given.joining && { maxCalls: 4 },
        coalesce: given.shares,
        minBlock: given.minBlock,
        hedge: given.hedge && { minMs: 5, maxRatio: 1 },
        keccak256: given.safe ? keccak256 : undefined,
        maxInFlight: given.maxInFlight,
        maxWaitMs: MAX_WAIT_MS,
        budget: { requestsPerSecond: given.rate },
        breaker: { failures: 3, openMs: 500 },
        cache: { finalityDepth: 4 },
        hooks: { onResponse: onEnd, onFailure: onEnd },
      } as FullOptions)
      const group: TransportGroup = transport.group()

      const made: Made[] = []
      const start = (plan: (typeof given.calls)[number], at: number): void => {
        const { method, timeoutMs, priority, minBlock, abortAfterMs, by } = plan
        // Each write is unique.
        const params = (createParams[method] as (typeof createParams)[string])(isReadMethod(method) ? plan.subject : at)
        const reason = { mine: at }
        const controller = new AbortController()
        const options: CallOptions = { signal: controller.signal, timeoutMs, priority, minBlock }
        const call: Made = { method, params, timeoutMs, startedAt: performance.now(), reason, completions: 0 }
        made.push(call)
        const complete = (ok: boolean, value: unknown): void => {
          call.completions++
          call.end = { ok, value, at: performance.now() }
        }
        const via = by.includes('group') ? group : transport
        if (by.startsWith('batch')) {
          const second: Made = { ...call, method: 'eth_getCode', params: [`mine ${at} too`, '0x1'] }
          made.push(second)
          void via
            .batch([call, second].map(({ method, params }) => ({ method, params })) as never, options)
            .then((ends) => {
              for (const [place, one] of [call, second].entries()) {
                const result = (ends as PromiseSettledResult<unknown>[])[place] as PromiseSettledResult<unknown>
                one.completions++
                const ok = result.status === 'fulfilled'
                one.end = { ok, value: ok ? result.value : result.reason, at: -1 }
              }
            })
        } else
          via.request({ method, params }, options).then(
            (value) => complete(true, value),
            (error: unknown) => complete(false, error),
          )
        if (abortAfterMs === 0) controller.abort(reason)
        else if (abortAfterMs != null) setTimeout(() => controller.abort(reason), abortAfterMs)
      }
      for (const atMs of new Set(given.calls.map((plan) => plan.atMs)))
        setTimeout(() => {
          for (const [at, plan] of given.calls.entries()) if (plan.atMs === atMs) start(plan, at)
        }, atMs)
      if (given.closeGroupMs !== null) setTimeout(() => group.close(), given.closeGroupMs)
      if (given.closeMs !== null)
        setTimeout(() => {
          transport.close()
          closedAt = performance.now()
          if (memory.open > 0) wrong.push('a request is open after the close')
        }, given.closeMs)

      await vi.advanceTimersByTimeAsync(120_000)

      expect(wrong).toEqual([])
      // Whether no call waits in a queue of the transport.
      const free = !given.rate && given.maxInFlight === 64 && !given.fates.some((fate) => /too|used/.test(fate ?? ''))
      for (const { method, params, timeoutMs, startedAt, reason, completions, end } of made) {
        expect(completions, `${method} ends exactly once`).toBe(1)
        const { ok, value, at } = end as NonNullable<typeof end>
        const name = ok ? 'succeeded' : value === reason ? 'reason' : isKeyrailError(value) ? value.kind : 'unknown'
        seen[name] = (seen[name] ?? 0) + 1
        if (free && at >= 0) expect(at - startedAt, 'it ends in time').toBeLessThanOrEqual(timeoutMs + GRACE_MS)
        if (free && at >= 0) seen['in time'] = (seen['in time'] ?? 0) + 1
        if (ok) expect(value, 'its own result').toEqual(getResult({ method, params }, known))
        else if (value !== reason) {
          if (!isKeyrailError(value)) throw new Error(`${method} ended with ${String(value)}`)
          expect(value.method).toBe(method)
          if (value.kind === 'aborted') expect(given.closeMs ?? given.closeGroupMs).not.toBeNull()
          if (value.kind === 'timeout') {
            const tookMs = at - startedAt
            if (at >= 0 && value.source === 'client' && !value.message.includes('attempt'))
              // Node measures a timer from the start of the event loop iteration: after a long iteration it fires early.
              expect(tookMs).toBeGreaterThanOrEqual(timeoutMs / 2)
          }
        }
      }
      // The duration of each call, from its events, without the time in queues of the transport.
      expect(ended.size).toBe(transport.stats().calls)
      for (const { durationMs, queuedMs, times } of ended.values()) {
        expect(times).toBe(1)
        const mostMs = Math.max(...given.calls.map((plan) => plan.timeoutMs))
        // Waits for a shared request, and waits that end with a rejection, are not reported as queued. There can be 8 of them.
        expect(durationMs).toBeLessThanOrEqual(mostMs + queuedMs + 8 * MAX_WAIT_MS + GRACE_MS)
      }
      const { calls, answered, failed, inFlight, failedByKind } = transport.stats()
      expect(calls).toBeLessThanOrEqual(made.length)
      expect(answered + failed, 'stats add up').toBe(calls)
      expect(Object.values(failedByKind).reduce((sum, count) => sum + count, 0)).toBe(failed)
      expect(inFlight).toBe(0)
      expect(memory.open, 'no request is left').toBe(0)
      expect(vi.getTimerCount(), 'no timer is left').toBe(0)
      transport.close()
    }),
    { numRuns: 400 },
  )
  // Otherwise the random cases were too easy to prove anything.
  for (const [name, least] of Object.entries({
    succeeded: 1_000,
    reason: 100,
    aborted: 100,
    timeout: 50,
    throttled: 5,
    'in time': 50,
  }))
    expect(seen[name], name).toBeGreaterThan(least)
})
