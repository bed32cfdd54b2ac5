import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { newCall } from '../../test/scriptedEndpoint.ts'
import { echo, scriptedPost } from '../../test/scriptedPost.ts'
import type { RpcCall, Posted, Reply } from '../../test/scriptedPost.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { limitConcurrency } from './endpoint/limitConcurrency.ts'
import { retry } from './retry.ts'
import type { RouteCall } from './call/call.ts'
import { joinBatches } from '../../test/layers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const heavy = ['eth_getLogs', 'debug_traceTransaction']
const reads = ['eth_getBalance', 'eth_call', 'eth_gasPrice', 'eth_getBlockByNumber']
const methods = [...reads, ...reads, ...reads, ...heavy, 'eth_sendRawTransaction', 'eth_newFilter']

/** How one entry of a response is changed, and the kinds with which its call may then fail. */
const itemFaults: Record<string, { readonly kinds: readonly string[]; readonly make: (one: RpcCall) => unknown[] }> = {
  good: { kinds: [], make: (one) => [echo(one)] },
  missing: { kinds: ['badResponse'], make: () => [] },
  doubled: { kinds: ['badResponse'], make: (one) => [echo(one), echo(one)] },
  'doubled with another': {
    kinds: ['badResponse'],
    make: (one) => [echo(one), { id: one.id, result: 'not mine' }],
  },
  'null id': { kinds: ['badResponse'], make: (one) => [{ id: null, result: { method: one.method } }] },
  'text id': { kinds: ['badResponse'], make: (one) => [{ ...echo(one), id: String(one.id) }] },
  'foreign id': { kinds: ['badResponse'], make: (one) => [{ ...echo(one), id: one.id + 5_000 }] },
  'foreign id beside it': { kinds: [], make: (one) => [{ ...echo(one), id: one.id - 5_000 }, echo(one)] },
  revert: { kinds: ['revert'], make: ({ id }) => [{ id, error: { code: 3, message: 'execution reverted' } }] },
  throttled: { kinds: ['throttled'], make: ({ id }) => [{ id, error: { code: 429, message: 'slow down' } }] },
  neither: { kinds: ['badResponse'], make: ({ id }) => [{ id }] },
}

/** How the response to a whole request is changed. */
const wholeFaults: Record<string, { readonly kinds: readonly string[]; readonly reply: Reply }> = {
  hang: { kinds: [], reply: { never: true } },
  'hang up': { kinds: ['network'], reply: { facts: { kind: 'network', text: 'socket hang up' } } },
  'no connection': {
    kinds: ['network'],
    reply: { facts: { kind: 'network', text: 'connection failed', unsent: true } },
  },
  page: { kinds: ['unavailable'], reply: { status: 502, text: '<title>502 Bad Gateway</title>' } },
  limit: { kinds: ['throttled'], reply: { status: 429, text: 'Too Many Requests' } },
  truncated: { kinds: ['badResponse'], reply: { text: '[{"jsonrpc":"2.0","id"' } },
  empty: { kinds: ['badResponse'], reply: { text: '[]' } },
}

/** How a request that is larger than the hidden cap is rejected. */
const rejections: Record<string, (rpcCalls: readonly RpcCall[], cap: number) => Reply> = {
  'one object': () => ({ text: '{"id":null,"error":{"code":-32600,"message":"batch too large"}}' }),
  'one object with the cap': (_, cap) => ({
    text: `{"id":null,"error":{"code":-32600,"message":"at most ${cap} requests in a batch"}}`,
  }),
  'an array of one': () => ({ text: '[{"id":null,"error":{"code":-32600,"message":"batch too large"}}]' }),
  'a status': () => ({ status: 413, text: 'Request Entity Too Large' }),
  'each item': (rpcCalls, cap) => ({
    text: JSON.stringify(
      rpcCalls.map(({ id }) => ({ id, error: { code: 31, message: `Batch of more than ${cap} requests` } })),
    ),
  }),
  'the rest of them': (rpcCalls, cap) => ({
    text: JSON.stringify([
      ...rpcCalls.slice(0, cap).map(echo),
      { id: null, error: { code: -32600, message: 'batch limit exceeded' } },
    ]),
  }),
  'unclear words': () => ({ text: '{"id":null,"error":{"code":-32600,"message":"Invalid Request"}}' }),
}

const planned = fc.record({
  method: fc.constantFrom(...methods),
  atMs: fc.constantFrom(0, 0, 5, 10),
  endAfterMs: fc.option(fc.integer({ min: 0, max: 40 }), { freq: 4 }),
  explicit: fc.option(fc.integer({ min: 0, max: 1 }), { freq: 3 }),
  priority: fc.constantFrom('write', 'read', 'poll', undefined, undefined, undefined),
})

const scenario = fc.record({
  calls: fc.array(planned, { minLength: 1, maxLength: 24, size: 'max' }),
  joining: fc.constantFrom(true, true, false),
  maxCalls: fc.integer({ min: 1, max: 15 }),
  maxBytes: fc.constantFrom(1, 200, 1_000, 512_000, 512_000, 512_000),
  maxInFlight: fc.integer({ min: 1, max: 5 }),
  cap: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1_000)),
  rejection: fc.constantFrom(...Object.keys(rejections)),
  whole: fc.array(fc.option(fc.constantFrom(...Object.keys(wholeFaults)), { freq: 2 }), { maxLength: 3 }),
  items: fc.array(fc.constantFrom('good', 'good', 'good', ...Object.keys(itemFaults)), { minLength: 1, maxLength: 12 }),
  lastsMs: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
  order: fc.constantFrom('as sent', 'reversed', 'by id'),
  retries: fc.constantFrom(0, 0, 2),
})

test('every call completes once, with its own result or a correct failure, for any behaviour of the server', async () => {
  const joined = { succeeded: 0, rejected: 0 }
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      // Timers of a failed case, while fast-check shrinks it.
      vi.clearAllTimers()
      const { calls, joining, maxCalls, maxBytes, maxInFlight, cap, rejection, retries } = given
      /** For each call: the kinds with which it may fail, how often it was sent, and whether it may have arrived. */
      const fates = calls.map(() => ({ kinds: new Set<string>(), sent: 0, mayHaveArrived: false, succeeded: false }))
      const records: RouteCall[] = []
      const outcomes = calls.map(() => [] as { ok: boolean; value: unknown }[])
      let dealt = 0
      let requests = 0
      /** The caps that the rejections of the server imply, with their times and calls. */
      const learned: { readonly limit: number; readonly at: number; readonly rejected: readonly number[] }[] = []
      /** When calls were ended by the caller. Caps are not learned from these. */
      const endedAt = new Map<number, number>()

      const endpoint = scriptedPost((posted: Posted) => {
        const { rpcCalls, batched } = posted
        expect(endpoint.open).toBeLessThanOrEqual(maxInFlight)
        for (const { method, params } of rpcCalls) {
          const [at] = params as [number]
          const fate = fates[at] as (typeof fates)[number]
          expect((records[at] as RouteCall).ended, 'nothing is sent after its call ended').toBe(false)
          expect(outcomes[at], 'nothing is sent after its call completed').toHaveLength(0)
          expect(fate.succeeded, 'no call is sent again after its response').toBe(false)
          if (!isReadMethod(method)) {
            expect(fate.mayHaveArrived, 'no write is sent twice unless it cannot have arrived').toBe(false)
            expect(batched, 'no write is batched').toBe(false)
          }
          if (batched) {
            expect(joining || calls[at]?.explicit != null, 'nothing is joined unasked').toBe(true)
            expect(heavy.includes(method) && calls[at]?.explicit == null, 'no heavy call is joined unasked').toBe(false)
          }
          fate.sent++
        }
        expect(new Set(rpcCalls.map(({ params }) => params[0])).size, 'no call is in a batch twice').toBe(
          rpcCalls.length,
        )
        if (joining) expect(rpcCalls.length, 'the cap by count').toBeLessThanOrEqual(maxCalls)
        if (joining && rpcCalls.length > 1) expect(posted.body.length, 'the cap by bytes').toBeLessThanOrEqual(maxBytes)
        for (const { limit, at, rejected } of learned)
          if (at < posted.at && rejected.some((call) => (endedAt.get(call) ?? Infinity) > at))
            expect(rpcCalls.length, 'a learned cap is respected').toBeLessThanOrEqual(limit)

        const afterMs = given.lastsMs[requests % given.lastsMs.length] as number
        const fault = given.whole[requests++]
        if (fault) {
          const { kinds, reply } = wholeFaults[fault] as (typeof wholeFaults)[string]
          for (const { params } of rpcCalls) {
            const fate = fates[params[0] as number] as (typeof fates)[number]
            for (const kind of kinds) fate.kinds.add(kind)
            if (fault !== 'no connection' && fault !== 'limit') fate.mayHaveArrived = true
          }
          return { ...reply, afterMs }
        }
        if (rpcCalls.length > cap) {
          joined.rejected++
          const limit = /each|with the cap/.test(rejection) ? cap : rpcCalls.length >> 1
          const rejected = rpcCalls.slice(/rest/.test(rejection) ? cap : 0).map(({ params }) => params[0] as number)
          if (!/status|unclear/.test(rejection))
            learned.push({ limit: Math.max(1, limit), at: posted.at + afterMs, rejected })
          if (/rest/.test(rejection))
            for (const { params } of rpcCalls.slice(0, cap))
              (fates[params[0] as number] as (typeof fates)[number]).succeeded = true
          return { ...(rejections[rejection] as (typeof rejections)[string])(rpcCalls, cap), afterMs }
        }
        const responses = rpcCalls.map((one) => {
          const fate = fates[one.params[0] as number] as (typeof fates)[number]
          const { kinds, make } = itemFaults[
            given.items[dealt++ % given.items.length] as string
          ] as (typeof itemFaults)[string]
          for (const kind of kinds) fate.kinds.add(kind)
          // The response to a single call has only the first item.
          if (kinds.length === 0) fate.succeeded = true
          if (!kinds.includes('throttled')) fate.mayHaveArrived = true
          return make(one)
        })
        if (!batched) {
          const [only] = responses[0] as [unknown?]
          const fate = fates[rpcCalls[0]?.params[0] as number] as (typeof fates)[number]
          const { id, result } = Object(only) as { id?: unknown; result?: { method?: unknown } }
          fate.succeeded = id === rpcCalls[0]?.id && result !== undefined
          if (!fate.succeeded) fate.kinds.add('badResponse')
          return { text: JSON.stringify(only) ?? '', afterMs }
        }
        joined.succeeded++
        const items = responses.flat()
        if (given.order === 'reversed') items.reverse()
        return { text: JSON.stringify(items), afterMs }
      })

      const engine = joinBatches(joining && { maxCalls, maxBytes })(limitConcurrency({ maxInFlight })(endpoint))
      const send = retry({ retries, baseMs: 1 })(engine.send, { redactedUrl: endpoint.redactedUrl })
      const explicit = [{}, {}]
      for (const [at, { method, priority, explicit: group }] of calls.entries())
        records[at] = newCall(method, {
          params: `[${at}]`,
          options: { priority },
          batch: group == null ? undefined : explicit[group],
        })
      const end = (at: number, reason: string): void => {
        const call = records[at] as RouteCall
        if ((outcomes[at] as unknown[]).length > 0 || call.ended) return
        call.ended = true
        endedAt.set(at, now())
        call.cancel?.(reason)
      }
      const start = (at: number): void => {
        const call = records[at] as RouteCall
        send(call, (ok, value) => {
          call.cancel = undefined
          outcomes[at]?.push({ ok, value })
        })
        const { endAfterMs } = calls[at] as (typeof calls)[number]
        if (endAfterMs === 0) end(at, 'ended')
        else if (endAfterMs != null) setTimeout(() => end(at, 'ended'), endAfterMs)
      }
      // One timer for all calls of the same time: between two timers, a microtask would send the joined calls.
      for (const atMs of new Set(calls.map((call) => call.atMs)))
        setTimeout(() => {
          for (const [at, call] of calls.entries()) if (call.atMs === atMs) start(at)
        }, atMs)
      await vi.advanceTimersByTimeAsync(20_000)
      // Ends calls that never get a response, like a deadline.
      for (const at of calls.keys()) end(at, 'late')
      await vi.advanceTimersByTimeAsync(20_000)

      for (const [at, { method }] of calls.entries()) {
        const ends = outcomes[at] as { ok: boolean; value: unknown }[]
        expect(ends, 'every call completes exactly once').toHaveLength(1)
        const [{ ok, value }] = ends as [{ ok: boolean; value: unknown }]
        if (ok) expect(value).toEqual({ method, params: [at] })
        else if (value === 'late') expect(given.whole, 'only what hung is late').toContain('hang')
        else if (value !== 'ended') {
          if (!isKeyrailError(value)) throw new Error(`call ${at} ended with ${String(value)}`)
          expect(value.method).toBe(method)
          expect([...(fates[at]?.kinds ?? [])], 'a failure says what happened').toContain(value.kind)
        }
      }
      expect(endpoint.open, 'no request is left').toBe(0)
      expect(vi.getTimerCount(), 'no timer is left').toBe(0)
    }),
    { numRuns: 600 },
  )
  // Otherwise the cases above would not have tested batches.
  expect(joined.succeeded).toBeGreaterThan(300)
  expect(joined.rejected).toBeGreaterThan(30)
})
