import { monotonicClock } from '../../lib/clock.ts'
import { rejections } from '../../errors/rejections.ts'
import type { CallDone, CallResult } from './callResult.ts'
import type { ByteBudget } from './createUpstream.ts'
import type { GroupMember } from './groupMember.ts'
import { holdBytes } from '../../lib/memoryBudget.ts'

/** What a caller brings to a read. */
export interface InFlightOptions {
  readonly keyId: string
  /** How many bytes its answer may have: its own bytes are taken off, also where another caller's call brought them. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** How long its answer may take, in milliseconds. */
  readonly timeoutMs: number
  /** What is left of that, where some of it has passed. */
  readonly deadlineMs?: number | undefined
  /** Called when the read is sent to a node, or at once when the joined read already was. */
  readonly sent?: (() => void) | undefined
}

/** A caller that waits for a read. */
interface Waiter {
  readonly done: CallDone
  readonly options: InFlightOptions
  /** It can take a result as a stream. */
  readonly streams: boolean
}

/** A read in flight. */
interface InFlightRead {
  readonly number: number
  readonly beganAt: number
  /** When the one who began it gives it up. */
  readonly endsAt: number
  /** The budget that the read itself draws on, that of the one who began it. */
  readonly budget: ByteBudget
  readonly waiters: Waiter[]
  /** A node may have received it. */
  isSent: boolean
  stop: () => void
}

/** What the one who carries a read is given. */
export interface ReadLeader {
  /** Whether the answer may become a stream now: only one waits for it, and can take one. After a yes nobody joins. */
  readonly mayStream: () => boolean
  /** Must be called when the read is sent to a node. */
  readonly sent: () => void
  readonly done: CallDone
}

/** Leaves a read to the others who wait for it, or stops it where there are none. */
type Leave = () => void

/** The reads in flight on one network, so that the same read is carried once for all who ask for it at the same time. */
export interface InFlightReads {
  /**
   * Joins the same read in flight, or begins it.
   * @param key - What is asked: method and params.
   * @param options - With a budget of its own, as the read may go on for others.
   * @param use.begin - Carries the read; gives what stops it.
   * @param use.done - Called once, and not after the returned function was called.
   */
  readonly carry: (
    key: string,
    options: InFlightOptions,
    use: { begin: (leader: ReadLeader) => () => void; done: CallDone },
  ) => Leave
  /** Joins the same read in flight, and is given its answer whole; `undefined` where there is none that may be joined. */
  readonly join: (key: string, options: InFlightOptions, done: CallDone) => Leave | undefined
  /** A key's call changes something: its reads join none that began before this. To be called when the call goes out and when it ends. */
  readonly changed: (keyId: string) => void
  readonly size: () => number
}

/** Reads after which their map is made anew. */
const renewAfter = 256
/** Of keys that changed something while reads were in flight. */
const maxMarks = 10_000
const nothing = (): void => {}

/**
 * Makes the book of reads in flight.
 * @param options.joinableMs - How long after its beginning a read may be joined, in milliseconds.
 * @param options.now - Milliseconds of a clock that never goes back. @default performance.now
 */
export const createInFlightReads = (options: { joinableMs: number; now?: () => number }): InFlightReads => {
  const { joinableMs, now = monotonicClock() } = options
  let open = new Map<string, InFlightRead>()
  /** Of a key, the number of the first read that it may join. */
  const marks = new Map<string, number>()
  let markOfAll = 0
  let lastNumber = 0

  const leftOf = ({ timeoutMs, deadlineMs = timeoutMs }: InFlightOptions): number => deadlineMs
  const joinable = (key: string, options: InFlightOptions): InFlightRead | undefined => {
    const flight = open.get(key)
    if (flight === undefined || flight.number < markOfAll) return undefined
    if (marks.size > 0 && flight.number < (marks.get(options.keyId) ?? 0)) return undefined
    const at = now()
    // One that waited in its key's line has little time left: it would be given up while others have theirs.
    return at - flight.beganAt < joinableMs && (flight.endsAt - at) * 2 >= leftOf(options) ? flight : undefined
  }
  const settle = (
    { done, options: { budget, maxResponseBytes } }: Waiter,
    flight: InFlightRead,
    ended: Ended,
  ): void => {
    const { end, member } = ended
    if ('value' in end && budget !== flight.budget) {
      if (end.value.length > budget.left) {
        done(rejections.responseTooLarge(maxResponseBytes))
        return
      }
      // Counted for each, as the one who began it may be gone before the others have read theirs.
      if (!holdBytes(budget.kept, end.value.length)) {
        done(rejections.upstreamBusy())
        return
      }
      budget.left -= end.value.length
    }
    done(end, member)
  }
  const land = (key: string, flight: InFlightRead): void => {
    // A later read of the same may have taken the place.
    if (open.get(key) === flight) open.delete(key)
  }
  const wait = (key: string, flight: InFlightRead, waiter: Waiter): Leave => {
    flight.waiters.push(waiter)
    if (flight.isSent) waiter.options.sent?.()
    return () => {
      const place = flight.waiters.indexOf(waiter)
      if (place === -1) return
      flight.waiters.splice(place, 1)
      if (flight.waiters.length > 0) return
      land(key, flight)
      flight.stop()
    }
  }
  const join = (key: string, waiter: Waiter): Leave | undefined => {
    const flight = joinable(key, waiter.options)
    return flight === undefined ? undefined : wait(key, flight, waiter)
  }

  return {
    carry: (key, given, { begin, done }) => {
      const waiter: Waiter = { done, options: given, streams: true }
      const joined = join(key, waiter)
      if (joined !== undefined) return joined
      const beganAt = now()
      const flight: InFlightRead = {
        number: ++lastNumber,
        beganAt,
        endsAt: beganAt + leftOf(given),
        budget: given.budget,
        waiters: [],
        isSent: false,
        stop: nothing,
      }
      const leave = wait(key, flight, waiter)
      // V8 chains a map's former tables, each to the next: one that grew old kept all reads since then from being collected while they were
      // young, which made collecting cost a sixth of each call.
      if (flight.number % renewAfter === 0) open = new Map(open)
      open.set(key, flight)
      flight.stop = begin({
        mayStream: () => {
          if (flight.waiters.length !== 1 || flight.waiters[0]?.streams !== true) return false
          land(key, flight)
          return true
        },
        sent: () => {
          flight.isSent = true
          for (const { options } of flight.waiters) options.sent?.()
        },
        done: (end, member) => {
          land(key, flight)
          for (const each of flight.waiters.splice(0)) settle(each, flight, { end, member })
        },
      })
      return leave
    },
    join: (key, given, done) => join(key, { done, options: given, streams: false }),
    changed: (keyId) => {
      // Without a read in flight there is none to join.
      if (open.size === 0) {
        if (marks.size > 0) marks.clear()
        return
      }
      if (marks.size >= maxMarks && !marks.has(keyId)) {
        marks.clear()
        markOfAll = lastNumber + 1
      }
      marks.set(keyId, lastNumber + 1)
    },
    size: () => open.size,
  }
}

interface Ended {
  readonly end: CallResult
  readonly member: GroupMember | undefined
}
