import { createSharedTimer } from '../../clock/createSharedTimer.ts'
import { defer } from '../../clock/defer.ts'
import { now } from '../../clock/now.ts'
import { createFailure } from '../../failure/createFailure.ts'
import type { FailureFacts } from '../../failure/failureFacts.ts'
import { checkRange } from '../../failure/check.ts'
import { isKeyrailError } from '../../failure/keyrailError.ts'
import { isReadMethod } from '../../failure/isReadMethod.ts'
import type { Call, Send, Complete, RouteCall } from '../call/call.ts'
import { endWait, startWait } from '../call/callProgress.ts'
import type { Queued } from '../call/callProgress.ts'
import type { Endpoint, HttpEndpoint, Post } from './http.ts'
import { createQueue } from '../call/queue.ts'
import type { Queue, QueueEntry } from '../call/queue.ts'
import { onCancel } from '../call/onCancel.ts'

/** Options of {@link limitConcurrency}. */
export interface ConcurrencyOptions {
  /** How many requests may be in flight at once; a batch is one. @default 64 */
  readonly maxInFlight?: number | undefined
  /** How long a call may wait in the queue, in milliseconds. The call's own deadline does not run during that time. @default 60_000 */
  readonly maxWaitMs?: number | undefined
}

/**
 * How many requests start within one tick; the next ones start right after it. If a scavenge of V8 finds a hundred live objects of one kind, V8
 * allocates such objects in the old generation from then on. Later requests would then stay alive until the next full collection, and a
 * scavenge would take twenty times as long.
 */
const MAX_AT_ONCE = 8

/** An object that belongs to a call. */
export interface OfCall {
  readonly call: Call
}

/**
 * Posts a body for several calls as soon as a request may start. The body is written only then, because calls may end while they wait.
 * `done` is called once. The returned function ends the wait or the request, is called once at most, and `done` is not called after it.
 */
export type PostForItems = (items: readonly OfCall[], body: () => string, done: Parameters<Post>[2]) => () => void

/** An endpoint with a limit on the requests in flight. */
export interface LimitedEndpoint extends Endpoint, Pick<HttpEndpoint, 'chain'> {
  readonly post: PostForItems
}

/** A body that waits to be posted. */
interface Posting {
  readonly items: readonly OfCall[]
  readonly start: () => void
  readonly reject: (facts: FailureFacts) => void
}

/** A waiting request. Without batches there is one for each call, so the record is small. */
interface Waiter extends QueueEntry, Queued {
  readonly queue: Queue<Waiter>
  /** The call, or the first call of the body. */
  readonly call: RouteCall
  /** Completes the call, or the body that will be posted. */
  readonly work: Complete | Posting
}

/**
 * Limits how many requests to an endpoint are in flight. Further requests wait in a queue: writes before reads before polls, otherwise first come,
 * first served. A call that is aborted or that reaches its deadline leaves the queue at once.
 *
 * The limit is directly above HTTP and below batching, because the load on a server depends on requests: a batch of a hundred calls is one.
 * It replaces the queue of a Node Agent, so that waiting costs little in a long queue, and no body is written before its turn.
 *
 * @param options - How many requests may be in flight, and how long the others wait.
 * @throws {KeyrailError} A call fails with kind `throttled`, source `client`, if it waited for `maxWaitMs`. It was not sent, and is not retried.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', maxInFlight: 16 })
 */
export function limitConcurrency(options: ConcurrencyOptions = {}): (endpoint: HttpEndpoint) => LimitedEndpoint {
  const { maxInFlight = 64, maxWaitMs = 60_000 } = options
  checkRange('maxInFlight', maxInFlight, 1, 100_000)
  checkRange('maxWaitMs', maxWaitMs, 1, 2 ** 31 - 1)
  return (endpoint) => {
    const { redactedUrl, chain, close } = endpoint
    const queues = { write: createQueue<Waiter>(), read: createQueue<Waiter>(), poll: createQueue<Waiter>() }
    const inOrder = Object.values(queues)
    let queued = 0
    let requestsInFlight = 0
    let starting = false
    let startedInTick = 0

    const getQueue = ({ method, options }: RouteCall): Queue<Waiter> =>
      queues[options.priority ?? (isReadMethod(method) ? 'read' : 'write')]

    const getCalls = ({ call, work }: Waiter): readonly RouteCall[] =>
      typeof work === 'function' ? [call] : work.items.map((item) => item.call)

    const enter = (call: RouteCall, work: Waiter['work']): Waiter => {
      const waiter: Waiter = { queue: getQueue(call), call, work, since: now(), before: undefined, after: undefined }
      waiter.queue.enter(waiter)
      for (const one of getCalls(waiter)) startWait(one, waiter)
      queued++
      if (!timer.isSet()) timer.set(maxWaitMs)
      return waiter
    }

    const getStart = (waiter: Waiter | undefined): number => waiter?.since ?? Infinity

    /** Ends the wait of a request, and returns how long it has waited. */
    const leave = (waiter: Waiter, time: number): number => {
      waiter.queue.leave(waiter)
      if (--queued === 0) timer.clear()
      for (const call of getCalls(waiter)) endWait(call, waiter, time)
      return time - waiter.since
    }

    /** Rejects requests that have waited too long. One timer is enough: the first request of each queue has waited longest. */
    const rejectExpired = (): void => {
      const time = now()
      for (const queue of inOrder)
        while (getStart(queue.first()) + maxWaitMs <= time) {
          const waiter = queue.first() as Waiter
          leave(waiter, time)
          const facts: FailureFacts = {
            kind: 'throttled',
            text: `not sent: it waited ${maxWaitMs} ms because maxInFlight (${maxInFlight}) requests were in flight`,
            unsent: true,
            final: true,
          }
          const { work, call } = waiter
          if (typeof work === 'function') work(false, createFailure(facts, { method: call.method, redactedUrl }))
          else work.reject(facts)
        }
      const oldest = Math.min(...inOrder.map((queue) => getStart(queue.first())))
      if (queued > 0) timer.set(Math.max(1, oldest + maxWaitMs - time))
    }
    const timer = createSharedTimer(rejectExpired)

    /** Starts as many waiting requests as the limit allows. `reportWait` is false for requests that waited for the end of the tick only. */
    const startWaiting = (reportWait: boolean): void => {
      startedInTick = 0
      // A request that completes at once calls this function again. The loop below continues then, so the stack does not grow.
      if (starting) return
      starting = true
      while (queued > 0 && requestsInFlight < maxInFlight) {
        const waiter = inOrder.find((queue) => queue.first())?.first() as Waiter
        const waitMs = leave(waiter, now())
        if (reportWait) for (const call of getCalls(waiter)) call.emit?.({ type: 'queued', redactedUrl, waitMs })
        const { work, call } = waiter
        if (typeof work === 'function') sendNow(call, work)
        else work.start()
      }
      starting = false
    }

    /** Starts the next request after one has ended. */
    const release = (): void => {
      requestsInFlight--
      startWaiting(true)
    }

    /** Starts the requests that were over `MAX_AT_ONCE` in the last tick. */
    const flush = (): void => startWaiting(false)

    const mayStart = (): boolean => {
      if (queued > 0 || requestsInFlight >= maxInFlight) return false
      if (startedInTick++ < MAX_AT_ONCE) return true
      defer(flush)
      return false
    }

    const sendNow: Send = (call, complete) => {
      requestsInFlight++
      const sentAt = now()
      call.emit?.({ type: 'attempt', redactedUrl, batchSize: 1 })
      endpoint.send(call, (ok, value) => {
        if (call.emit) {
          const kind = ok ? undefined : isKeyrailError(value) ? value.kind : 'aborted'
          call.emit({ type: 'attempted', redactedUrl, durationMs: now() - sentAt, kind })
        }
        release()
        complete(ok, value)
      })
    }

    const send: Send = (call, complete) => {
      if (mayStart()) return sendNow(call, complete)
      leaveOnCancel(enter(call, complete), call)
    }

    /** A function of its own, so that the closure captures nothing but the waiter. */
    const leaveOnCancel = (waiter: Waiter, call: RouteCall): void =>
      onCancel(call, (reason) => {
        leave(waiter, now())
        ;(waiter.work as Complete)(false, reason)
      })

    const post: PostForItems = (items, body, done) => {
      let stop: () => void
      const start = (): void => {
        requestsInFlight++
        const end = endpoint.post(body, true, (...outcome) => {
          // Before the next request starts, because that request may depend on what `done` learned.
          done(...outcome)
          release()
        })
        stop = () => {
          end()
          release()
        }
      }
      if (mayStart()) start()
      else {
        const reject = (facts: FailureFacts): void => done(facts, undefined, { redactedUrl })
        const waiter = enter((items[0] as OfCall).call, { items, start, reject })
        stop = () => leave(waiter, now())
      }
      return () => stop()
    }

    return { redactedUrl, chain, send, post, close }
  }
}
