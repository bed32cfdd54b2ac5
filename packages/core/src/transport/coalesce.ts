import { now } from '../clock/now.ts'
import { checkNames } from '../failure/check.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import type { Call, Send, Layer, Settle } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'
import { createCall } from './createCall.ts'
import { onCancel } from './onCancel.ts'
import { setBelow } from './waits.ts'

/** Options of {@link coalesce}. */
export interface CoalesceOptions {
  /** The `minBlock` of calls that name none: calls share an answer only where theirs is the same. @default undefined */
  readonly minBlock?: number | bigint | boolean | undefined
}

/** One that joined. */
interface Waiter {
  readonly call: Call
  readonly settle: Settle
}

/** What is made where somebody joins. */
interface Joined {
  /** In the order they came; a place is emptied when its caller leaves. */
  readonly waiters: (Waiter | undefined)[]
  /** When the call that began it had to be answered. */
  readonly joinableFor: number
  /** How many of them have not left. */
  waiting: number
}

/** One call below for several callers. Mostly nobody joins, so it holds no more than it must. */
interface Flight {
  /** Its deadline is the latest of theirs, because each keeps its own. */
  readonly shared: Call
  /** The call that began it, until it leaves. */
  first: Call | undefined
  readonly settle: Settle
  joined: Joined | undefined
  /** How many writes and how many answers had settled when it began. */
  readonly writes: number
  readonly responses: number
}

/** What is under way, by params. */
type Flights = Map<string, Flight>

const rank = { poll: 0, read: 1, write: 2 }
const rankOf = ({ options }: Call): number => rank[options.priority ?? 'read']

/**
 * Lets callers that ask the same at the same time share one request. Each keeps its own deadline and abort; the request ends when the last
 * of them leaves. The first gets the answer, each further one a copy of its own, and a failure likewise.
 *
 * Only reads are shared, and only where sharing changes no answer: not with a request that began before a write settled on this transport,
 * nor with one of another group, batch, `retries` or `minBlock`, of a lower priority, or with less than half of the caller's own time left.
 *
 * @param options - What holds for calls that do not say.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545' }) // coalesce is true by default
 * // One request.
 * await Promise.all([transport.request({ method: 'eth_gasPrice' }), transport.request({ method: 'eth_gasPrice' })])
 */
export function coalesce(options: CoalesceOptions = {}): Layer {
  checkNames('coalesce', options, ['minBlock'])
  checkCallOptions({ minBlock: options.minBlock })
  const minBlockOf = (call: Call): CoalesceOptions['minBlock'] => call.options.minBlock ?? options.minBlock
  return (next) => {
    // By method first: to join method and params to one key costs more than to look twice.
    const flights = new Map<string, Flights>()
    let writes = 0
    let responses = 0

    const mayJoin = (call: Call, flight: Flight): boolean => {
      const minBlock = minBlockOf(call)
      const time = now()
      return (
        // Read your writes: what was sent before a write settled may be answered without it.
        flight.writes === writes &&
        flight.shared.group === call.group &&
        flight.shared.batch === call.batch &&
        // One that is made again less often may fail where the caller's own would be answered.
        flight.shared.options.retries === call.options.retries &&
        // One that waits in a lower lane would be waited for in that lane.
        rankOf(flight.shared) >= rankOf(call) &&
        // Not even with a higher one: that may fail as lagging where the caller's own would be answered.
        minBlockOf(flight.shared) === minBlock &&
        // `true` is the highest block seen, and an answer may have raised it.
        (minBlock !== true || flight.responses === responses) &&
        // Else a request that hangs would be joined, and outlived, for ever.
        2 * ((flight.joined?.joinableFor ?? flight.shared.deadlineAt) - time) >= call.deadlineAt - time
      )
    }

    const begin = (call: Call, settle: Settle): Flight => {
      const { method, params, options, startedAt, deadlineAt, note } = call
      const shared = createCall(method, params, options, call)
      shared.startedAt = startedAt
      shared.deadlineAt = deadlineAt
      shared.note = note
      return { shared, first: call, settle, joined: undefined, writes, responses }
    }

    /** No more callers join it. */
    const close = (flight: Flight): void => {
      const { method, params } = flight.shared
      const alike = flights.get(method)
      if (alike?.get(params) !== flight) return
      // What was deleted keeps its place in a Map until that makes its table anew, which costs more than a new one.
      if (alike.size === 1) flights.delete(method)
      else alike.delete(params)
    }

    /** One caller has left. The last one ends what is under way. */
    const leave = (flight: Flight, settle: Settle, reason: unknown): void => {
      const { shared, first, joined } = flight
      if (!first && !joined?.waiting) {
        close(flight)
        shared.ended = true
        shared.cancel?.(reason)
      }
      settle(false, reason)
    }

    /** Hands out what came to all who still wait. */
    const land = (flight: Flight, ok: boolean, value: unknown): void => {
      const { first, joined } = flight
      flight.first = flight.joined = undefined
      if (!joined) return first && flight.settle(ok, value)
      // Made before the first gets the original, which is then its own to change.
      const copy = joined.waiting + (first ? 1 : 0) > 1 ? copier(ok, value) : undefined
      if (first) flight.settle(ok, value)
      let given = first !== undefined
      for (const waiter of joined.waiters) {
        if (!waiter) continue
        if (!given) waiter.settle(ok, value)
        else if (copy) waiter.settle(ok, copy())
        // It asks for itself.
        else next(waiter.call, waiter.settle)
        given = true
      }
    }

    const join = (flight: Flight, call: Call, settle: Settle): void => {
      const { shared } = flight
      if (!flight.joined && shared.note) {
        // What happens is told to one caller, so that it is counted once.
        const tell: Call['note'] = (event) =>
          (flight.first ?? flight.joined?.waiters.find(Boolean)?.call)?.note?.(event)
        shared.note = tell
      }
      const joined = (flight.joined ??= { waiters: [], joinableFor: shared.deadlineAt, waiting: 0 })
      const place = joined.waiters.push({ call, settle }) - 1
      joined.waiting++
      setBelow(call, shared)
      onCancel(call, (reason) => {
        joined.waiters[place] = undefined
        joined.waiting--
        leave(flight, settle, reason)
      })
      if (shared.deadlineAt < call.deadlineAt) shared.deadlineAt = call.deadlineAt
      call.note?.({ type: 'joined' })
    }

    /** Asks for the call that began it. Both functions hold the flight and no more. */
    const launch = (flight: Flight, call: Call): void => {
      onCancel(call, (reason) => {
        flight.first = undefined
        leave(flight, flight.settle, reason)
      })
      next(flight.shared, (ok, value) => {
        close(flight)
        responses++
        // Cut off from all it worked for: tables that the map has outgrown keep it alive for a while.
        flight.shared.cancel = undefined
        land(flight, ok, value)
      })
    }

    const sendWrite: Send = (call, settle) =>
      next(call, (ok, value) => {
        writes++
        settle(ok, value)
      })

    return (call: Call, settle) => {
      const { method, params } = call
      if (!isReadMethod(method)) return sendWrite(call, settle)
      let alike = flights.get(method)
      const found = alike?.get(params)
      if (found && mayJoin(call, found)) return join(found, call, settle)
      const flight = begin(call, settle)
      if (!alike) flights.set(method, (alike = new Map()))
      alike.set(params, flight)
      call.below = flight.shared
      launch(flight, call)
    }
  }
}

/** Makes copies of what came; undefined where it cannot be copied, because a user's layer made more of it than JSON. */
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
