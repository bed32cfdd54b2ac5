import { checkNames } from '../failure/invalid.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { repeatable } from '../failure/repeatable.ts'
import type { Call, Layer, Settle } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'
import { createCall } from './createCall.ts'
import { onCancel } from './onCancel.ts'
import { setBelow } from './waits.ts'

/** Options of {@link coalesce}. */
export interface CoalesceOptions {
  /** The `minBlock` of calls that name none: calls share an answer only where theirs is the same. @default undefined */
  readonly minBlock?: number | bigint | boolean | undefined
}

interface Waiter {
  readonly call: Call
  readonly settle: Settle
}

/** One call below for several callers. */
interface Flight {
  /** Its deadline is the latest of theirs, because each keeps its own. */
  readonly shared: Call
  /** The call that began it, until it leaves. */
  first: Waiter | undefined
  /** Those that joined, in the order they came; a place is emptied when its caller leaves. */
  joined: (Waiter | undefined)[] | undefined
  waiting: number
  /** The deadline of the call that began it. */
  readonly joinableFor: number
  /** How many writes and how many answers had settled when it began. */
  readonly writes: number
  readonly answers: number
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
 * const transport = compose(http({ url: 'http://127.0.0.1:8545' }), retry(), coalesce(), deadline())
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
    let answers = 0

    const mayJoin = (call: Call, flight: Flight): boolean => {
      const minBlock = minBlockOf(call)
      const now = performance.now()
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
        (minBlock !== true || flight.answers === answers) &&
        // Else a request that hangs would be joined, and outlived, for ever.
        2 * (flight.joinableFor - now) >= call.deadlineAt - now
      )
    }

    const begin = (call: Call, settle: Settle): Flight => {
      const { method, params, options, deadlineAt, note } = call
      const shared = createCall(method, params, options, call)
      shared.deadlineAt = deadlineAt
      const flight: Flight = {
        shared,
        first: { call, settle },
        joined: undefined,
        waiting: 1,
        joinableFor: deadlineAt,
        writes,
        answers,
      }
      shared.note = note
      return flight
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

    const leave = (flight: Flight, settle: Settle, reason: unknown): void => {
      if (--flight.waiting === 0) {
        const { shared } = flight
        close(flight)
        shared.ended = true
        shared.cancel?.(reason)
      }
      settle(false, reason)
    }

    /** Hands out what came to all who still wait. */
    const land = (flight: Flight, ok: boolean, value: unknown): void => {
      const { first, joined, waiting } = flight
      flight.first = flight.joined = undefined
      // Made before the first gets the original, which is then its own to change.
      const copy = waiting > 1 ? copier(ok, value) : undefined
      if (first) first.settle(ok, value)
      let given = first !== undefined
      for (const waiter of joined ?? []) {
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
        const tell: Call['note'] = (event) => (flight.first ?? flight.joined?.find(Boolean))?.call.note?.(event)
        shared.note = tell
      }
      const joined = (flight.joined ??= [])
      const place = joined.push({ call, settle }) - 1
      flight.waiting++
      setBelow(call, shared)
      onCancel(call, (reason) => {
        joined[place] = undefined
        leave(flight, settle, reason)
      })
      if (shared.deadlineAt < call.deadlineAt) shared.deadlineAt = call.deadlineAt
      call.note?.({ type: 'joined' })
    }

    return (call: Call, settle) => {
      const { method, params } = call
      if (!repeatable(method))
        return next(call, (ok, value) => {
          writes++
          settle(ok, value)
        })
      let alike = flights.get(method)
      const found = alike?.get(params)
      if (found && mayJoin(call, found)) return join(found, call, settle)
      const flight = begin(call, settle)
      const { shared } = flight
      if (!alike) flights.set(method, (alike = new Map()))
      alike.set(params, flight)
      call.below = shared
      onCancel(call, (reason) => {
        flight.first = undefined
        leave(flight, settle, reason)
      })
      next(shared, (ok, value) => {
        close(flight)
        answers++
        // Cut off from all it worked for: tables that the map has outgrown keep it alive for a while.
        shared.cancel = undefined
        land(flight, ok, value)
      })
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
