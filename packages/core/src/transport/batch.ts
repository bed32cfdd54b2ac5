import { defer } from '../clock/defer.ts'
import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { check, checkNames, checkObject, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { readBatchResponse } from '../message/readBatchResponse.ts'
import type { BatchEntryRead } from '../message/readBatchResponse.ts'
import { findChainMismatch } from '../message/findChainMismatch.ts'
import type { BatchFn } from '../schema/batch.ts'
import type { EthereumRpc } from '../schema/ethereumRpc.ts'
import { createBatchRequest } from './batchRequest.ts'
import type { Dispatch } from './call/createDispatch.ts'
import { createBatchCap } from './endpoint/batchCap.ts'
import { batchLimit, mentionsBatch } from './endpoint/batchLimit.ts'
import type { Call, Send, Complete } from './call/call.ts'
import type { CallEvent } from './call/callEvent.ts'
import type { LimitedEndpoint, PostForItems } from './endpoint/limitConcurrency.ts'
import type { Endpoint } from './endpoint/http.ts'
import { isExpensiveMethod } from './call/isExpensiveMethod.ts'
import { onCancel } from './call/onCancel.ts'

/** Options of {@link batch}. */
export interface BatchOptions {
  /** Most calls in one request. @default 100 */
  readonly maxCalls?: number | undefined
  /** Largest body of one request, in bytes. A call that is larger is sent alone. @default 512_000 */
  readonly maxBytes?: number | undefined
  /** Joins calls of the same tick; with false only calls of `transport.batch([…])` are sent together. @default true */
  readonly join?: boolean | undefined
}

/** The value of the `batch` option of `createTransport`. Created by {@link batch}. `Rpc` is the schema of `transport.batch`. */
export interface BatchFeature<Rpc = EthereumRpc> {
  readonly wrap: (endpoint: LimitedEndpoint) => Endpoint
  readonly createRequest: (dispatch: Dispatch) => BatchFn<Rpc>
}

/** A call, and the request that contains it, once it is sent. */
interface Item {
  readonly call: Call
  readonly complete: Complete
  sent: Sent | undefined
}

/** A request for several calls. */
interface Sent {
  /** How many of its calls have not been cancelled. */
  live: number
  stop: () => void
}

/** Kinds of failure that concern every call of a rejected batch. One call of the batch may have caused a failure of any other kind. */
const sharedKinds: ReadonlySet<FailureKind> = new Set([
  'auth',
  'forbidden',
  'throttled',
  'quota',
  'wrongNetwork',
  'unavailable',
  'timeout',
  'network',
  'badResponse',
])

/** The rest of a request, besides method and params: `{"jsonrpc":"2.0","id":9007199254740991,"method":"","params":},`. */
const FRAME_BYTES = 64

const nothing = (): void => {}

const isLive = ({ call }: Item): boolean => !call.ended

/** An upper bound of the bytes of a call in UTF-8. */
const countBytes = ({ method, params }: Call): number =>
  FRAME_BYTES + method.length + (/^[\0-\x7f]*$/.test(params) ? params.length : MAX_BYTES_PER_UNIT * params.length)

/** No UTF-16 unit takes more bytes than this in UTF-8. */
const MAX_BYTES_PER_UNIT = 3

/**
 * Sends calls of the same tick as one JSON-RPC batch, without a timer: a microtask collects the calls of the tick. A single call is sent as an
 * ordinary request.
 *
 * Responses are matched by id, and each call completes on its own: a call without a response, or with two, fails alone. If an endpoint rejects a
 * batch, calls with a result keep it, and the others are sent again in smaller batches, down to single calls. A limit that the endpoint names is
 * never exceeded again. A guessed limit grows back by rare trials.
 *
 * Writes are never joined, because after a broken connection it would be unknown which of them ran. Expensive calls (such as eth_getLogs,
 * debug_* and trace_*) are not joined either, because a batch is as slow as its slowest call. `transport.batch([…])` sends its calls together even
 * with `join: false`, including expensive ones. Writes among them are still sent alone and at once, so that each can be resent or looked up by the
 * rules for writes, and no server rejects a read because of a write.
 *
 * @param options - The limits of a batch, and whether calls are joined.
 * @throws {KeyrailError} Each call fails with its own failure; with kind `badResponse` if the response has no entry, or two, with its id.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', batch: batch({ maxCalls: 50 }) })
 * // One request.
 * await Promise.all([transport.request({ method: 'eth_blockNumber' }), transport.request({ method: 'eth_gasPrice' })])
 * @see JSON-RPC 2.0 section 6
 */
export function batch<Rpc = EthereumRpc>(options: BatchOptions = {}): BatchFeature<Rpc> {
  checkObject('batch', options, 'an object of options, such as { maxCalls: 50 }')
  checkNames('batch', options, ['maxCalls', 'maxBytes', 'join'])
  checkRange('maxCalls', options.maxCalls, 1, 100_000)
  checkRange('maxBytes', options.maxBytes, 1, 2 ** 31)
  check(
    options.join === undefined || typeof options.join === 'boolean',
    `join must be true or false, not ${describeType(options.join)}`,
  )
  const given = { ...options }
  return Object.freeze({
    wrap: (endpoint: LimitedEndpoint) => joinCalls(endpoint, given),
    createRequest: (dispatch: Dispatch) => createBatchRequest(dispatch) as BatchFn<Rpc>,
  })
}

function joinCalls(endpoint: LimitedEndpoint, given: BatchOptions): Endpoint {
  const { redactedUrl, chain, close } = endpoint
  const cap = createBatchCap(Math.floor(given.maxCalls ?? 100))
  let { maxBytes = 512_000 } = given
  let lastId = 0
  /**
   * The calls of this tick, by explicit batch or else by priority, so that a poll never delays a read in the queue.
   * A new Map each time: V8 links the old table of a cleared Map to the new one, and once such a table is in the old generation, everything that it
   * ever held stays alive until the next full collection.
   */
  let waiting: Map<object | string, Item[]> | undefined

  // Most calls have the same method as the one before.
  let lastMethod: string | undefined
  let lastJoins = false
  const joins = (method: string): boolean => {
    if (method !== lastMethod) {
      lastMethod = method
      lastJoins = given.join !== false && isReadMethod(method) && !isExpensiveMethod(method)
    }
    return lastJoins
  }

  const send: Send = (call: Call, complete) => {
    if (!(call.batch ? isReadMethod(call.method) : joins(call.method))) return endpoint.send(call, complete)
    const key = call.batch ?? call.options.priority ?? 'read'
    if (!waiting) {
      waiting = new Map()
      defer(flush)
    }
    const item: Item = { call, complete, sent: undefined }
    const items = waiting.get(key)
    if (items) items.push(item)
    else waiting.set(key, [item])
    onCancel(call, (reason) => {
      complete(false, reason)
      if (item.sent && --item.sent.live === 0) item.sent.stop()
    })
  }

  const sendAlone = ({ call, complete }: Pick<Item, 'call' | 'complete'>): void => {
    call.share = 1
    endpoint.send(call, complete)
  }

  const flush = (): void => {
    const all = waiting ?? []
    waiting = undefined
    for (const [, items] of all) sendAll(items)
  }

  /** Sends the calls that have not ended, in batches of at most `limit` calls. */
  const sendAll = (all: readonly Item[], limit = cap.calls()): void => {
    const items = all.filter(isLive)
    if (items.length > limit) cap.exceeded()
    let mostBytes = 0
    for (const { call } of items)
      mostBytes += FRAME_BYTES + call.method.length + MAX_BYTES_PER_UNIT * call.params.length
    // Most batches fit even by this upper bound.
    if (items.length <= limit && mostBytes <= maxBytes) return sendBatch(items)
    let part: Item[] = []
    let bytes = 0
    for (const item of items) {
      const more = countBytes(item.call)
      if (part.length >= limit || (part.length > 0 && bytes + more > maxBytes)) {
        sendBatch(part)
        part = []
        bytes = 0
      }
      part.push(item)
      bytes += more
    }
    sendBatch(part)
  }

  const sendBatch = (items: Item[]): void => {
    const [lone] = items
    if (!lone) return
    if (items.length === 1) return sendAlone(lone)

    const sent: Sent = { live: items.length, stop: nothing }
    for (const item of items) item.sent = sent
    let first: number
    let sentAt: number

    const body = (): string => {
      if (sent.live < items.length) items = items.filter(isLive)
      const most = cap.calls()
      if (items.length > most) {
        // The cap was lowered while this batch waited.
        sendAll(items.slice(most))
        items = items.slice(0, most)
        sent.live = most
      }
      sentAt = now()
      first = lastId + 1
      const attempt: CallEvent = { type: 'attempt', redactedUrl, batchSize: items.length }
      const texts: string[] = []
      let method: string | undefined
      let between = ''
      for (const { call } of items) {
        if (call.method !== method) {
          method = call.method
          between = `,"method":${JSON.stringify(method)},"params":`
        }
        texts.push(`{"jsonrpc":"2.0","id":${++lastId}${between}${call.params}}`)
        call.share = 1 / items.length
        call.emit?.(attempt)
      }
      return `[${texts.join(',')}]`
    }

    const done: Parameters<PostForItems>[2] = (fault, response, context) => {
      sent.stop = nothing
      const size = items.length
      const read = response ? readBatchResponse(response, first, size) : { ...(fault as FailureFacts), batch: true }
      const chainHeader = chain.id && response?.header('x-chain-id')
      const durationMs = now() - sentAt
      const succeeded: CallEvent = { type: 'attempted', redactedUrl, durationMs }
      const rejected: Item[] = []
      let limit = size
      let isCauseUnknown = false
      for (let at = 0; at < size; at++) {
        const item = items[at] as Item
        const { call, complete } = item
        if (call.ended) continue
        const { method } = call
        const one = 'length' in read ? (read[at] as BatchEntryRead) : read
        const wrong =
          'result' in one ? findChainMismatch(chain, method === 'eth_chainId' ? one.result : chainHeader) : one
        const failure = wrong && createFailure(wrong, { ...context, method })
        const kind = failure?.kind
        call.emit?.(kind ? { type: 'attempted', redactedUrl, durationMs, kind } : succeeded)
        if (!wrong) complete(true, (one as { result: unknown }).result)
        else if (kind === 'batchTooLarge') {
          rejected.push(item)
          const named = batchLimit(wrong.text, size)
          limit = named ?? Math.max(1, size >> 1)
          if (mentionsBatch(wrong.text)) {
            if (named) cap.setLimit(named)
            else if (rejected.length === 1) cap.rejected(size)
          } else if (wrong.status === 413 && rejected.length === 1)
            maxBytes = Math.min(maxBytes, Math.floor(items.reduce((sum, of) => sum + countBytes(of.call), 0) / 2))
        } else if (one === read && response && !sharedKinds.has(kind as FailureKind)) {
          rejected.push(item)
          isCauseUnknown = true
        } else complete(false, failure)
      }
      if (!isCauseUnknown) return sendAll(rejected, Math.min(limit, cap.calls()))
      // Sent one by one, the call that caused the failure fails alone. If all succeed, the server rejected the batch itself.
      let left = rejected.length
      let allSucceeded = true
      for (const { call, complete } of rejected.filter(isLive))
        sendAlone({
          call,
          complete: (ok, value) => {
            allSucceeded &&= ok
            if (--left === 0 && allSucceeded) cap.rejected(size)
            complete(ok, value)
          },
        })
    }
    sent.stop = endpoint.post(items, body, done)
    // A listener may have cancelled all of them while they were sent.
    if (sent.live === 0) sent.stop()
  }

  return { redactedUrl, send, close }
}
