import { createSharedTimer } from '../clock/createSharedTimer.ts'
import { defer } from '../clock/defer.ts'
import { now } from '../clock/now.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import { checkNames, checkRange } from '../failure/check.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import type { Call, Send, Settle } from './call.ts'
import type { Endpoint, HttpEndpoint, Post } from './http.ts'
import { createQueue } from './queue.ts'
import type { Queue, QueueEntry } from './queue.ts'
import { onCancel } from './onCancel.ts'
import type { RouteCall } from './routeCall.ts'
import { endWait } from './waits.ts'

/** Options of {@link gate}. */
export interface GateOptions {
  /** How many requests may be under way at once; a batch is one. @default 64 */
  readonly maxInFlight?: number | undefined
  /** How long a call may wait for its turn, in milliseconds; the call's own time does not run meanwhile. @default 60_000 */
  readonly maxWaitMs?: number | undefined
}

/**
 * So many requests begin within one tick, and the next ones right after it. V8 learns from a flood of calls: where a scavenge meets a hundred
 * things of one kind, all of them alive, it makes such things in the old generation from then on. If those are parts of a request, then later each
 * request keeps all that it points at until the next full collection, and a scavenge takes twenty times as long.
 */
const MAX_AT_ONCE = 8

/** Whatever a call is kept in. */
export interface OfCall {
  readonly call: Call
}

/**
 * Posts a body on behalf of calls, as soon as a request may be made. The body is written only then: calls may have ended while they waited.
 * `done` is called once, and not after the returned function, which ends the wait or the request and is called once at most.
 */
export type PostForItems = (items: readonly OfCall[], body: () => string, done: Parameters<Post>[2]) => () => void

/** An endpoint with a gate in front. */
export interface GatedEndpoint extends Endpoint {
  readonly chainId?: number | undefined
  readonly post: PostForItems
}

/** A body that waits to be posted. */
interface Posting {
  readonly items: readonly OfCall[]
  readonly start: () => void
  readonly refuse: (facts: FailureFacts) => void
}

/** A request that waits. One is made for each call where nothing is joined, so it holds no more than it must. */
interface Waiter extends QueueEntry {
  readonly queue: Queue<Waiter>
  /** The call, or the first of the body's: since when it waits stands there. */
  readonly call: RouteCall
  /** A call's own, or what is to be posted. */
  readonly asked: Settle | Posting
}

/**
 * Lets only so many requests be under way at once. The others wait in line: writes before reads before polling, else first come, first served.
 * A call that is aborted, or whose deadline strikes, leaves the line at once.
 *
 * It stands right around http, below batch, because what burdens a server is requests: a batch of a hundred calls is one.
 * The line is our own and not that of a Node Agent, so that it costs little however long it is, and nothing in it has been written yet.
 *
 * @param options - How many, and how long the others wait.
 * @throws {KeyrailError} kind `throttled`, source `client`, for a call that waited for `maxWaitMs`. It was not sent, and is not retried.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', maxInFlight: 16 })
 */
export function gate(options: GateOptions = {}): (endpoint: HttpEndpoint) => GatedEndpoint {
  checkNames('gate', options, ['maxInFlight', 'maxWaitMs'])
  const { maxInFlight = 64, maxWaitMs = 60_000 } = options
  checkRange('maxInFlight', maxInFlight, 1, 100_000)
  checkRange('maxWaitMs', maxWaitMs, 1, 2 ** 31 - 1)
  return (endpoint) => {
    const { redactedUrl, chainId, close } = endpoint
    const queues = { write: createQueue<Waiter>(), read: createQueue<Waiter>(), poll: createQueue<Waiter>() }
    const inOrder = Object.values(queues)
    let queued = 0
    let inFlight = 0
    let admitting = false
    let begun = 0

    const queueOf = ({ method, options }: RouteCall): Queue<Waiter> =>
      queues[options.priority ?? (isReadMethod(method) ? 'read' : 'write')]

    const callsOf = ({ call, asked }: Waiter): readonly RouteCall[] =>
      typeof asked === 'function' ? [call] : asked.items.map((item) => item.call)

    const enter = (call: RouteCall, asked: Waiter['asked']): Waiter => {
      const waiter: Waiter = { queue: queueOf(call), call, asked, before: undefined, after: undefined }
      waiter.queue.enter(waiter)
      const time = now()
      for (const one of callsOf(waiter)) one.waitingSince = time
      queued++
      if (!timer.isSet()) timer.set(maxWaitMs)
      return waiter
    }

    const leave = (waiter: Waiter): void => {
      waiter.queue.leave(waiter)
      if (--queued === 0) timer.clear()
    }

    const sinceOf = (waiter: Waiter | undefined): number => waiter?.call.waitingSince ?? Infinity

    /** Ends the wait, moves the deadlines by as long as it was, and tells it. */
    const admit = (waiter: Waiter, time: number): number => {
      const waitMs = time - sinceOf(waiter)
      leave(waiter)
      for (const call of callsOf(waiter)) endWait(call, waitMs)
      return waitMs
    }

    /** One timer for all who wait: in each lane, the first has waited longest. */
    const watch = (): void => {
      const time = now()
      for (const queue of inOrder)
        while (sinceOf(queue.first()) + maxWaitMs <= time) {
          const waiter = queue.first() as Waiter
          admit(waiter, time)
          const facts: FailureFacts = {
            kind: 'throttled',
            text: `not sent: it waited ${maxWaitMs} ms because maxInFlight (${maxInFlight}) requests were in flight`,
            unsent: true,
            final: true,
          }
          const { asked, call } = waiter
          if (typeof asked === 'function') asked(false, createFailure(facts, { method: call.method, redactedUrl }))
          else asked.refuse(facts)
        }
      const oldest = Math.min(...inOrder.map((queue) => sinceOf(queue.first())))
      if (queued > 0) timer.set(Math.max(1, oldest + maxWaitMs - time))
    }
    const timer = createSharedTimer(watch)

    /** Lets go whoever may. `late` where they have waited for more than the end of the tick. */
    const admitAll = (late: boolean): void => {
      begun = 0
      // Whatever settles at once comes back here: then the loop below goes on, and the stack does not grow.
      if (admitting) return
      admitting = true
      while (queued > 0 && inFlight < maxInFlight) {
        const waiter = inOrder.find((queue) => queue.first())?.first() as Waiter
        const waitMs = admit(waiter, now())
        if (late) for (const call of callsOf(waiter)) call.note?.({ type: 'queued', redactedUrl, waitMs })
        const { asked, call } = waiter
        if (typeof asked === 'function') sendNow(call, asked)
        else asked.start()
      }
      admitting = false
    }

    /** A request has ended: the next may go. */
    const release = (): void => {
      inFlight--
      admitAll(true)
    }

    /** The tick has ended in which too many would have begun. */
    const flush = (): void => admitAll(false)

    const mayBegin = (): boolean => {
      if (queued > 0 || inFlight >= maxInFlight) return false
      if (begun++ < MAX_AT_ONCE) return true
      defer(flush)
      return false
    }

    const sendNow: Send = (call, settle) => {
      inFlight++
      const sentAt = now()
      call.note?.({ type: 'attempt', redactedUrl, batchSize: 1 })
      endpoint.send(call, (ok, value) => {
        if (call.note) {
          const kind = ok ? undefined : isKeyrailError(value) ? value.kind : 'aborted'
          call.note({ type: 'attempted', redactedUrl, durationMs: now() - sentAt, kind })
        }
        release()
        settle(ok, value)
      })
    }

    const send: Send = (call, settle) => {
      if (mayBegin()) return sendNow(call, settle)
      stand(enter(call, settle), call)
    }

    /** Apart, so that what ends the wait of a call holds no more than its waiter. */
    const stand = (waiter: Waiter, call: RouteCall): void =>
      onCancel(call, (reason) => {
        leave(waiter)
        ;(waiter.asked as Settle)(false, reason)
      })

    const post: PostForItems = (items, body, done) => {
      let stop: () => void
      const start = (): void => {
        inFlight++
        const end = endpoint.post(body, true, (...outcome) => {
          // First, because it may have learned what the next should know.
          done(...outcome)
          release()
        })
        stop = () => {
          end()
          release()
        }
      }
      if (mayBegin()) start()
      else {
        const refuse = (facts: FailureFacts): void => done(facts, undefined, { redactedUrl })
        const waiter = enter((items[0] as OfCall).call, { items, start, refuse })
        stop = () => leave(waiter)
      }
      return () => stop()
    }

    return { redactedUrl, chainId, send, post, close }
  }
}
