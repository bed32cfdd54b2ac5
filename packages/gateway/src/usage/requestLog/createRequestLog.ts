import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import { minuteMs } from '../metering/usageTime.ts'
import type { RecordedRequest, RequestLog } from './requestLog.ts'
import { toRequestSteps, toTrimStep } from './requestLogRows.ts'
import { removeRequests } from './requestLogUpkeep.ts'
import { toRequestRow } from './toRequestRow.ts'
import type { Masks } from './toRequestRow.ts'

/** Which requests are recorded. */
export interface RequestLogSettings {
  /** One in so many successful requests of a key is recorded, besides the first of each minute. @default 100 */
  readonly sample: number
  /** How many successful requests of a key are recorded at the start of each minute. @default 20 */
  readonly firstPerMinute: number
  /** Most failed requests, and as many sampled ones, of a key in a minute. @default 60 */
  readonly maxPerKeyAndMinute: number
  /** Most requests of all keys in a minute. Half of them are for the first 5 of each key. @default 1_000 */
  readonly maxPerMinute: number
  /** About how many requests are stored of a key. @default 10_000 */
  readonly maxPerKey: number
}

/** The default settings. */
export const defaultRequestLogSettings: RequestLogSettings = Object.freeze({
  sample: 100,
  firstPerMinute: 20,
  maxPerKeyAndMinute: 60,
  maxPerMinute: 1_000,
  maxPerKey: 10_000,
})

/**
 * Why requests were not recorded: more failed ones than the bound of the key, more than the bound of all keys, a full buffer, or a database that
 * could not write them.
 */
export type DropReason = 'keyLimit' | 'limit' | 'buffer' | 'storage'

/** A request log that writes to the storage. */
export interface StoredRequestLog extends RequestLog {
  /** Writes what has been recorded. Never rejects: what cannot be written is dropped. */
  flush(): Promise<void>
  /** Records no more, and writes the rest. Never rejects. */
  close(): Promise<void>
  /** Removes all requests of keys that no longer exist. Never rejects: what cannot be removed now is removed after its retention. */
  remove(keyIds: readonly string[]): Promise<void>
  /** How many requests were dropped, by reason. */
  dropped(): Readonly<Record<DropReason, number>>
}

/** How many requests of a key were seen in a minute, and how many of them were added. */
interface KeyMinute {
  added: number
  failed: number
  succeeded: number
  sampled: number
}

interface Waiting {
  readonly request: RecordedRequest
  readonly at: number
}

/** Most requests that wait to be written. */
const maxWaiting = 5_000
/** How many requests of a key are recorded in a minute although half of the bound of all keys is used. */
const reservedPerKey = 5
/** Rows in one transaction. */
const rowsAtOnce = 250
/** Requests that are masked before others get the thread. */
const masksAtOnce = 4
/** Most keys whose stored requests are counted. */
const maxCountedKeys = 100_000

/**
 * Creates a request log. It writes once a second, in transactions of its own, so that it cannot delay or fail the writes of metering. What is
 * recorded while the database is unreachable is dropped.
 * @param options.settings - Called for each request, so that a new configuration applies at once. `undefined`: nothing is recorded.
 * @param options.flushMs - How long after a request it is written, in milliseconds. @default 1_000
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createRequestLog = ({
  storage,
  settings,
  flushMs = 1_000,
  now = Date.now,
}: {
  storage: Pick<Storage, 'db' | 'write'>
  settings: () => RequestLogSettings | undefined
  flushMs?: number
  now?: (() => number) | undefined
}): StoredRequestLog => {
  const { db, write } = storage
  const dropped: Record<DropReason, number> = { keyLimit: 0, limit: 0, buffer: 0, storage: 0 }
  let minute = 0
  let byKey = new Map<string, KeyMinute>()
  let addedInMinute = 0
  let waiting: Waiting[] = []
  /** How many requests of each key were written since its oldest ones were last removed. */
  const written = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const startMinute = (next: number): void => {
    minute = next
    byKey = new Map()
    addedInMinute = 0
  }
  const getCounts = (keyId: string): KeyMinute => {
    let counts = byKey.get(keyId)
    if (counts === undefined) byKey.set(keyId, (counts = { added: 0, failed: 0, succeeded: 0, sampled: 0 }))
    return counts
  }
  const admitsFailed = (counts: KeyMinute, { maxPerKeyAndMinute }: RequestLogSettings): boolean => {
    counts.failed += 1
    if (counts.failed <= maxPerKeyAndMinute) return true
    dropped.keyLimit += 1
    return false
  }
  const admitsSucceeded = (counts: KeyMinute, limits: RequestLogSettings): boolean => {
    counts.succeeded += 1
    if (counts.succeeded <= limits.firstPerMinute) return true
    if (counts.succeeded % limits.sample !== 0) return false
    counts.sampled += 1
    return counts.sampled <= limits.maxPerKeyAndMinute
  }

  /** Whether the bound of all keys admits a request. A few keys with many failures must not leave nothing for the others. */
  const hasRoom = ({ added }: KeyMinute, { maxPerMinute }: RequestLogSettings): boolean =>
    addedInMinute < (added < reservedPerKey ? maxPerMinute : maxPerMinute / 2)

  const writeRows = async (batch: readonly Waiting[], maxPerKey: number): Promise<void> => {
    const rows = []
    const masks: Masks = new Map()
    for (const [index, { request, at }] of batch.entries()) {
      if (index > 0 && index % masksAtOnce === 0) await nextRound()
      rows.push(toRequestRow(request, at, masks))
    }
    if (written.size > maxCountedKeys) written.clear()
    const full = new Set<string>()
    for (const { keyId } of rows.map(({ request }) => request)) {
      const count = (written.get(keyId) ?? 0) + 1
      written.set(keyId, count)
      if (count > maxPerKey / 10) full.add(keyId)
    }
    const trims = [...full].map((keyId) => toTrimStep(db.kind, { keyId, most: maxPerKey }))
    await write([...toRequestSteps(db.kind, rows), ...trims], { light: true })
    for (const keyId of full) written.delete(keyId)
  }
  const flushOnce = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const taken = waiting
    waiting = []
    const { maxPerKey } = settings() ?? defaultRequestLogSettings
    for (let start = 0; start < taken.length; start += rowsAtOnce) {
      try {
        await writeRows(taken.slice(start, start + rowsAtOnce), maxPerKey)
      } catch {
        // Each further write would wait for a database that does not respond.
        dropped.storage += taken.length - start
        return
      }
    }
  }
  let flushing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => (flushing = flushing.then(flushOnce))

  return {
    admits: (keyId, isFailed) => {
      const limits = settings()
      if (limits === undefined || isClosed) return false
      const current = Math.floor(now() / minuteMs)
      if (current !== minute) startMinute(current)
      const counts = getCounts(keyId)
      return isFailed ? admitsFailed(counts, limits) : admitsSucceeded(counts, limits)
    },
    add: (request) => {
      if (isClosed) return
      const counts = getCounts(request.keyId)
      if (!hasRoom(counts, settings() ?? defaultRequestLogSettings)) dropped.limit += 1
      else if (waiting.length >= maxWaiting) dropped.buffer += 1
      else {
        addedInMinute += 1
        counts.added += 1
        waiting.push({ request, at: now() })
        // Without requests, nothing runs.
        timer ??= setTimeout(() => void flush(), flushMs).unref()
      }
    },
    flush,
    close: () => {
      isClosed = true
      return flush()
    },
    remove: async (keyIds) => {
      waiting = waiting.filter(({ request }) => !keyIds.includes(request.keyId))
      // A write in flight may contain some of them.
      await flushing
      await removeRequests(storage, keyIds).catch(() => {})
    },
    dropped: () => ({ ...dropped }),
  }
}
