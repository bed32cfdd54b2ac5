import { monotonicClock } from '../../lib/clock.ts'
import type { CallDone, CallResult } from './callResult.ts'
import type { ByteBudget } from './postRequest.ts'
import type { GroupMember } from './groupMember.ts'
import { payForResult } from './payForResult.ts'

/** The caller of a read. */
export interface Reader {
  readonly keyId: string
  /** How many bytes the caller may read. Its own budget pays for the response, also if another caller's call fetched it. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** In milliseconds. */
  readonly timeoutMs: number
  /** Whether the caller accepts a result as a stream. @default true */
  readonly streams?: boolean | undefined
}

/** What differs between the reads of a caller. */
export interface ReadOptions {
  /** The rest of the timeout, in milliseconds. @default the timeout */
  readonly deadlineMs?: number | undefined
  /** The block that its node should have. It joins no read for which an older one will do. */
  readonly neededHead?: number | undefined
  /** Called when the read is sent to a node, or at once if the joined read was sent already. */
  readonly sent?: (() => void) | undefined
}

/** A caller that waits for a read: its leader or a follower. */
interface Waiter {
  readonly done: CallDone
  readonly reader: Reader
  readonly options: ReadOptions
}

/** A read in flight. */
interface InFlightRead {
  readonly number: number
  readonly startedAt: number
  readonly neededHead: number
  /** When the leader times out. */
  readonly endsAt: number
  /** The leader's budget, which pays for the read itself. */
  readonly budget: ByteBudget
  readonly waiters: Waiter[]
  /** A node may have received it. */
  isSent: boolean
  stop: () => void
}

/** The leader's side of a read: it sends the call, and the followers get its result. */
export interface ReadLeader {
  /** Whether the result may become a stream now: it may if a single caller waits for it and accepts one. After `true` nobody can join. */
  readonly mayStream: () => boolean
  /** Call this when the read is sent to a node. */
  readonly sent: () => void
  readonly done: CallDone
}

/** Stops waiting for a read. When the last caller leaves, the read is stopped. */
type Leave = () => void

/** The reads in flight on one network. Identical reads that are in flight at the same time are sent to a node once. */
export interface InFlightReads {
  /**
   * Joins an identical read in flight as a follower, or starts one as its leader.
   * @param key - Identifies the read: method and params.
   * @param reader - With a budget of its own, because the read may outlive its leader.
   * @param use.start - Sends the read. Returns a function that stops it.
   * @param use.done - Called once, and not after the returned function was called.
   */
  readonly run: (
    key: string,
    reader: Reader,
    use: { start: (leader: ReadLeader) => () => void; done: CallDone },
    options?: ReadOptions,
  ) => Leave
  /** Joins an identical read in flight. Returns `undefined` if there is no read that may be joined. */
  readonly join: (key: string, reader: Reader, done: CallDone, options?: ReadOptions) => Leave | undefined
  /** Call this when a key's write is sent and again when it ends: the key's reads then join none that started before. */
  readonly markChanged: (keyId: string) => void
  readonly size: () => number
}

/** After this many reads their map is replaced. */
const readsPerMap = 256
/** The most keys that are remembered for a write while reads were in flight. */
const maxMarks = 10_000
const noop = (): void => {}
const noOptions: ReadOptions = {}

/**
 * Creates the registry of reads in flight.
 * @param options.joinableMs - How long after its start a read can be joined, in milliseconds.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createInFlightReads = (options: { joinableMs: number; now?: () => number }): InFlightReads => {
  const { joinableMs, now = monotonicClock() } = options
  let reads = new Map<string, InFlightRead>()
  /** The number of the first read that a key may join. */
  const firstJoinable = new Map<string, number>()
  let firstJoinableForAll = 0
  let lastNumber = 0

  const getDeadlineMs = ({ reader, options }: Waiter): number => options.deadlineMs ?? reader.timeoutMs
  const findJoinable = (key: string, waiter: Waiter): InFlightRead | undefined => {
    const read = reads.get(key)
    if (read === undefined || read.number < firstJoinableForAll || read.neededHead < (waiter.options.neededHead ?? 0))
      return undefined
    if (firstJoinable.size > 0 && read.number < (firstJoinable.get(waiter.reader.keyId) ?? 0)) return undefined
    const time = now()
    // A leader that waited in its key's queue has little time left and would time out while its followers still have theirs.
    const isLeftEnough = (read.endsAt - time) * 2 >= getDeadlineMs(waiter)
    return time - read.startedAt < joinableMs && isLeftEnough ? read : undefined
  }
  const complete = ({ done, reader }: Waiter, read: InFlightRead, { result, member }: Completion): void => {
    // Counted for each follower, because it may still write the response after the leader has left.
    const paid = reader.budget === read.budget ? result : payForResult(result, reader)
    done(paid, paid === result ? member : undefined)
  }
  const remove = (key: string, read: InFlightRead): void => {
    // A later identical read may have replaced it.
    if (reads.get(key) === read) reads.delete(key)
  }
  const addWaiter = (key: string, read: InFlightRead, waiter: Waiter): Leave => {
    read.waiters.push(waiter)
    if (read.isSent) waiter.options.sent?.()
    return () => {
      const index = read.waiters.indexOf(waiter)
      if (index === -1) return
      read.waiters.splice(index, 1)
      if (read.waiters.length > 0) return
      remove(key, read)
      read.stop()
    }
  }
  const join = (key: string, waiter: Waiter): Leave | undefined => {
    const read = findJoinable(key, waiter)
    return read === undefined ? undefined : addWaiter(key, read, waiter)
  }

  return {
    run: (key, reader, { start, done }, options = noOptions) => {
      const waiter: Waiter = { done, reader, options }
      const joined = join(key, waiter)
      if (joined !== undefined) return joined
      const startedAt = now()
      const read: InFlightRead = {
        number: ++lastNumber,
        startedAt,
        neededHead: options.neededHead ?? 0,
        endsAt: startedAt + getDeadlineMs(waiter),
        budget: reader.budget,
        waiters: [],
        isSent: false,
        stop: noop,
      }
      const leave = addWaiter(key, read, waiter)
      // V8 links a map's former tables, each to the next. An old map kept all reads since then out of young-generation garbage collection,
      // which cost a sixth of each call's time.
      if (read.number % readsPerMap === 0) reads = new Map(reads)
      reads.set(key, read)
      read.stop = start({
        mayStream: () => {
          if (read.waiters.length !== 1 || read.waiters[0]?.reader.streams === false) return false
          remove(key, read)
          return true
        },
        sent: () => {
          read.isSent = true
          for (const each of read.waiters) each.options.sent?.()
        },
        done: (result, member) => {
          remove(key, read)
          for (const each of read.waiters.splice(0)) complete(each, read, { result, member })
        },
      })
      return leave
    },
    join: (key, reader, done, options = noOptions) => join(key, { done, reader, options }),
    markChanged: (keyId) => {
      // Nothing is in flight, so there is nothing to join.
      if (reads.size === 0) {
        if (firstJoinable.size > 0) firstJoinable.clear()
        return
      }
      if (firstJoinable.size >= maxMarks && !firstJoinable.has(keyId)) {
        firstJoinable.clear()
        firstJoinableForAll = lastNumber + 1
      }
      firstJoinable.set(keyId, lastNumber + 1)
    },
    size: () => reads.size,
  }
}

interface Completion {
  readonly result: CallResult
  readonly member: GroupMember | undefined
}
