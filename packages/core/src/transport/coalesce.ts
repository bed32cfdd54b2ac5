import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import type { Call, Send, Layer, Complete } from './call/call.ts'
import { callTime, follow, timeLeft } from './call/callProgress.ts'
import { createCall } from './call/createCall.ts'
import { onCancel } from './call/onCancel.ts'

/** Options of {@link coalesce}. */
export interface CoalesceOptions {
  /** The `minBlock` of calls without their own. Calls share a response only if they have the same `minBlock`. @default undefined */
  readonly minBlock?: number | bigint | boolean | undefined
}

/** A caller that joined a request in flight. */
interface Waiter {
  readonly call: Call
  readonly complete: Complete
}

/** The callers that joined a request in flight. Created when the first of them joins. */
interface Joined {
  /** In the order in which they joined. When a caller leaves, its entry becomes undefined. */
  readonly waiters: (Waiter | undefined)[]
  /** The deadline of the first caller, on the clock of the request. */
  readonly joinableUntil: number
  /** How many of them have not left. */
  waiting: number
}

/** One call below for several callers. Most requests have no followers, so the record is small. */
interface InFlight {
  /** Its deadline is the latest deadline of its callers. Each caller keeps its own. */
  readonly shared: Call
  /** The first caller's call, until it leaves. */
  first: Call | undefined
  readonly complete: Complete
  joined: Joined | undefined
  /** How many writes and how many responses had completed when the request started. */
  readonly writes: number
  readonly responses: number
}

/** The requests in flight of one method, by params. */
type InFlightByParams = Map<string, InFlight>

const rank = { poll: 0, read: 1, write: 2 }
const getRank = ({ options }: Call): number => rank[options.priority ?? 'read']

/**
 * Creates a layer that sends identical reads at the same time as one request. Each caller keeps its own deadline and abort signal. The request is
 * cancelled when the last caller leaves. The first caller gets the result, and each further one a copy; errors are copied too.
 *
 * Only reads are shared, and only if no caller gets a different result for it. A call does not join a request that started before a write on this
 * transport completed, that belongs to another group or batch, that has another `retries` or `minBlock` or a lower priority, or that has less than
 * half of the call's own time left.
 *
 * @param options - Defaults for calls without their own.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545' }) // coalesce is true by default
 * // One request.
 * await Promise.all([transport.request({ method: 'eth_gasPrice' }), transport.request({ method: 'eth_gasPrice' })])
 */
export function coalesce(options: CoalesceOptions = {}): Layer {
  const getMinBlock = (call: Call): CoalesceOptions['minBlock'] => call.options.minBlock ?? options.minBlock
  return (next) => {
    // Nested by method, because joining method and params into one key costs more than a second lookup.
    const byMethod = new Map<string, InFlightByParams>()
    let writes = 0
    let responses = 0

    const mayJoin = (call: Call, request: InFlight): boolean => {
      const minBlock = getMinBlock(call)
      return (
        // A response to a request that was sent before a write completed may not include that write.
        request.writes === writes &&
        request.shared.group === call.group &&
        request.shared.batch === call.batch &&
        // With fewer retries, the request may fail although the call on its own would succeed.
        request.shared.options.retries === call.options.retries &&
        // A request of a lower priority may wait longer in a queue than the call on its own would.
        getRank(request.shared) >= getRank(call) &&
        // With a higher minBlock, the request may fail as lagging although the call on its own would succeed.
        getMinBlock(request.shared) === minBlock &&
        // `true` means the highest block seen, and any response may have raised it.
        (minBlock !== true || request.responses === responses) &&
        // Without this limit, calls would join a request that hangs again and again.
        2 * ((request.joined?.joinableUntil ?? request.shared.deadlineAt) - callTime(request.shared)) >= timeLeft(call)
      )
    }

    const createRequest = (call: Call, complete: Complete): InFlight => {
      const { method, params, options, deadlineAt, emit } = call
      const shared = createCall(method, params, options, call)
      shared.deadlineAt = deadlineAt
      shared.emit = emit
      return { shared, first: call, complete, joined: undefined, writes, responses }
    }

    /** Lets no more callers join a request. */
    const close = (request: InFlight): void => {
      const { method, params } = request.shared
      const sameMethod = byMethod.get(method)
      if (sameMethod?.get(params) !== request) return
      // A Map keeps the space of deleted entries until it rebuilds its table, which costs more than a new Map.
      if (sameMethod.size === 1) byMethod.delete(method)
      else sameMethod.delete(params)
    }

    /** Completes a caller that leaves. After the last one, the request is cancelled. */
    const leave = (request: InFlight, complete: Complete, reason: unknown): void => {
      const { shared, first, joined } = request
      if (!first && !joined?.waiting) {
        close(request)
        shared.ended = true
        shared.cancel?.(reason)
      }
      complete(false, reason)
    }

    /** Passes the outcome of a request to all callers that still wait. */
    const deliver = (request: InFlight, ok: boolean, value: unknown): void => {
      const { first, joined } = request
      request.first = request.joined = undefined
      if (!joined) return first && request.complete(ok, value)
      // Created before the first caller gets the original, because that caller may change it.
      const copy = joined.waiting + (first ? 1 : 0) > 1 ? copier(ok, value) : undefined
      if (first) request.complete(ok, value)
      let originalIsTaken = first !== undefined
      for (const waiter of joined.waiters) {
        if (!waiter) continue
        if (!originalIsTaken) waiter.complete(ok, value)
        else if (copy) waiter.complete(ok, copy())
        // The value cannot be copied, so this caller gets a request of its own.
        else next(waiter.call, waiter.complete)
        originalIsTaken = true
      }
    }

    const join = (request: InFlight, call: Call, complete: Complete): void => {
      const { shared } = request
      if (!request.joined && shared.emit) {
        // Reports each event to one caller only, so that it is counted once.
        const reportToOne: Call['emit'] = (event) =>
          (request.first ?? request.joined?.waiters.find(Boolean)?.call)?.emit?.(event)
        shared.emit = reportToOne
      }
      const joined = (request.joined ??= { waiters: [], joinableUntil: shared.deadlineAt, waiting: 0 })
      const place = joined.waiters.push({ call, complete }) - 1
      joined.waiting++
      follow(call, shared)
      onCancel(call, (reason) => {
        joined.waiters[place] = undefined
        joined.waiting--
        leave(request, complete, reason)
      })
      shared.deadlineAt = Math.max(shared.deadlineAt, callTime(shared) + timeLeft(call))
      call.emit?.({ type: 'joined' })
    }

    /** Sends the request of the first caller. Both closures capture nothing but the request. */
    const launch = (request: InFlight, call: Call): void => {
      onCancel(call, (reason) => {
        request.first = undefined
        leave(request, request.complete, reason)
      })
      next(request.shared, (ok, value) => {
        close(request)
        responses++
        // Old tables of the Map keep the record alive for a while. Without this, they would keep its callers alive too.
        request.shared.cancel = undefined
        deliver(request, ok, value)
      })
    }

    const sendWrite: Send = (call, complete) =>
      next(call, (ok, value) => {
        writes++
        complete(ok, value)
      })

    return (call: Call, complete) => {
      const { method, params } = call
      if (!isReadMethod(method)) return sendWrite(call, complete)
      let sameMethod = byMethod.get(method)
      const found = sameMethod?.get(params)
      if (found && mayJoin(call, found)) return join(found, call, complete)
      const request = createRequest(call, complete)
      if (!sameMethod) byMethod.set(method, (sameMethod = new Map()))
      sameMethod.set(params, request)
      launch(request, call)
    }
  }
}

/** Creates a function that copies a result or an error; undefined if it cannot be copied, because a user's layer returned something that is not JSON. */
function copier(ok: boolean, value: unknown): (() => unknown) | undefined {
  if (!ok && isKeyrailError(value)) {
    const rpcError = JSON.stringify(value.rpcError)
    return () => new KeyrailError(value.message, { ...value, rpcError: rpcError && JSON.parse(rpcError) })
  }
  if (typeof value !== 'object' || value instanceof Error) return () => value
  try {
    const text = JSON.stringify(value)
    return () => JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
