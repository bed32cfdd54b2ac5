import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { AlongsideBatch } from '../metering/createMeterWriter.ts'
import { minuteMs } from '../../lib/time.ts'
import type { RecordedRequest, RequestRecorder } from './requestRecorder.ts'
import { toRequestSteps, toTrimStep } from './requestLogRows.ts'
import type { RequestRow } from './requestLogRows.ts'
import { removeRequests } from './requestLogUpkeep.ts'
import { toRequestRow } from './toRequestRow.ts'
import type { Masks } from './toRequestRow.ts'

/** The selection of requests that are recorded. */
export interface RequestLogSettings {
  /** One in this many successful requests of a key is recorded, besides the first of each minute. @default 100 */
  readonly sample: number
  /** How many successful requests of a key are recorded at the start of each minute. @default 20 */
  readonly firstPerMinute: number
  /** Most failed requests, as many reverted ones and as many sampled ones, of a key in a minute. @default 60 */
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
 * Why requests were not recorded: more failed or reverted ones than the bound of the key, more than the bound of all keys, a full buffer, an error while their
 * texts were masked, or a database that could not write them.
 */
export type DropReason = 'keyLimit' | 'limit' | 'buffer' | 'mask' | 'storage'

/** A recorder that writes to the request log, in the transactions of metering. */
export interface StoredRequestRecorder extends RequestRecorder {
  /** Returns what is ready to be written, up to 250 requests; `undefined`: nothing. */
  take(): AlongsideBatch | undefined
  /** Masks what has been recorded, so that `take` returns it. It also happens 250 ms after a request. */
  prepare(): Promise<void>
  /** Records no more, and prepares the rest. Never rejects. */
  close(): Promise<void>
  /**
   * Removes all requests of keys that no longer exist. Never rejects. Requests that cannot be removed, or are being written, are removed after their
   * retention. Until then, no one can read them.
   */
  remove(keyIds: readonly string[]): Promise<void>
  /** How many requests were dropped, by reason. */
  dropped(): Readonly<Record<DropReason, number>>
}

/** How many requests of a key were seen in a minute, and how many of them were added. */
interface KeyMinute {
  added: number
  failed: number
  reverted: number
  succeeded: number
  sampled: number
}

interface Waiting {
  readonly request: RecordedRequest
  readonly at: number
}

interface RecorderState {
  readonly storage: Pick<Storage, 'db' | 'write'>
  readonly settings: () => RequestLogSettings | undefined
  readonly dropped: Record<DropReason, number>
  /** The current minute, since 1970. */
  minute: number
  /** What was seen in the minute. */
  byKey: Map<string, KeyMinute>
  addedInMinute: number
  waiting: Waiting[]
  /** Masked requests. */
  ready: RequestRow[]
  /** How many requests of each key were taken since its oldest ones were last removed. */
  readonly taken: Map<string, number>
  /** Whether the last write failed. The next one has no requests, so that they never keep metering from writing. */
  hasFailed: boolean
  timer: NodeJS.Timeout | undefined
  isClosed: boolean
  /** The masking in progress, if there is any. */
  preparing: Promise<void>
}

/** Most requests that wait to be masked or written. */
const maxWaiting = 5_000
/** How many requests of a key are recorded in a minute although half of the bound of all keys is used. */
const reservedPerKey = 5
/** Requests in one transaction. */
const rowsAtOnce = 250
/** Requests that are masked before others get the thread. */
const masksAtOnce = 4
/** Most keys whose stored requests are counted. */
const maxCountedKeys = 100_000

const startMinute = (state: RecorderState, next: number): void => {
  state.minute = next
  state.byKey = new Map()
  state.addedInMinute = 0
}

const getCounts = (state: RecorderState, keyId: string): KeyMinute => {
  let counts = state.byKey.get(keyId)
  if (counts === undefined)
    state.byKey.set(keyId, (counts = { added: 0, failed: 0, reverted: 0, succeeded: 0, sampled: 0 }))
  return counts
}

/** Reverts have a bound of their own: a contract that reverts all day must not hide what fails. */
const admitsUnsuccessful = (
  state: RecorderState,
  counts: KeyMinute,
  kind: 'failed' | 'reverted',
  { maxPerKeyAndMinute }: RequestLogSettings,
): boolean => {
  counts[kind] += 1
  if (counts[kind] <= maxPerKeyAndMinute) return true
  state.dropped.keyLimit += 1
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
const hasRoom = (state: RecorderState, { added }: KeyMinute, { maxPerMinute }: RequestLogSettings): boolean =>
  state.addedInMinute < (added < reservedPerKey ? maxPerMinute : maxPerMinute / 2)

const prepareOnce = async (state: RecorderState): Promise<void> => {
  clearTimeout(state.timer)
  state.timer = undefined
  const masks: Masks = new Map()
  for (let count = 1; state.waiting.length > 0; count += 1) {
    const { request, at } = state.waiting.shift() as Waiting
    try {
      state.ready.push(toRequestRow(request, at, masks))
    } catch {
      state.dropped.mask += 1
    }
    if (count % masksAtOnce === 0) await nextRound()
  }
}

const prepare = (state: RecorderState): Promise<void> =>
  (state.preparing = state.preparing.then(() => prepareOnce(state)))

/** Removes the oldest requests of keys with too many: now and then, and not in the transactions of metering, which could wait for each other. */
const trim = (state: RecorderState, rows: readonly RequestRow[]): void => {
  const { maxPerKey: most } = state.settings() ?? defaultRequestLogSettings
  if (state.taken.size > maxCountedKeys) state.taken.clear()
  for (const { keyId } of rows.map(({ request }) => request)) {
    const count = (state.taken.get(keyId) ?? 0) + 1
    state.taken.set(keyId, count)
    if (count <= most / 10) continue
    state.taken.delete(keyId)
    // The next time removes what this one does not.
    state.storage.write([toTrimStep(state.storage.db.kind, { keyId, most })], { light: true }).catch(() => {})
  }
}

/**
 * Creates a recorder of requests. Entries that cannot be written are dropped, because they must not delay metering.
 * @param options.settings - Called for each request, so that a new configuration applies at once. `undefined`: nothing is recorded.
 * @param options.prepareMs - How long after a request it is masked, in milliseconds. @default 250
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createRequestRecorder = ({
  storage,
  settings,
  prepareMs = 250,
  now = Date.now,
}: {
  storage: Pick<Storage, 'db' | 'write'>
  settings: () => RequestLogSettings | undefined
  prepareMs?: number
  now?: (() => number) | undefined
}): StoredRequestRecorder => {
  const state: RecorderState = {
    storage,
    settings,
    dropped: { keyLimit: 0, limit: 0, buffer: 0, mask: 0, storage: 0 },
    minute: 0,
    byKey: new Map(),
    addedInMinute: 0,
    waiting: [],
    ready: [],
    taken: new Map(),
    hasFailed: false,
    timer: undefined,
    isClosed: false,
    preparing: Promise.resolve(),
  }
  return {
    admits: (keyId, outcome) => {
      const limits = settings()
      if (limits === undefined || state.isClosed) return false
      const current = Math.floor(now() / minuteMs)
      if (current !== state.minute) startMinute(state, current)
      const counts = getCounts(state, keyId)
      if (outcome === 'succeeded') return admitsSucceeded(counts, limits)
      return admitsUnsuccessful(state, counts, outcome === 'reverted' ? outcome : 'failed', limits)
    },
    add: (request) => {
      if (state.isClosed) return
      const counts = getCounts(state, request.keyId)
      if (!hasRoom(state, counts, settings() ?? defaultRequestLogSettings)) state.dropped.limit += 1
      else if (state.waiting.length + state.ready.length >= maxWaiting) state.dropped.buffer += 1
      else {
        state.addedInMinute += 1
        counts.added += 1
        state.waiting.push({ request, at: now() })
        // Without requests, nothing runs.
        state.timer ??= setTimeout(() => void prepare(state), prepareMs).unref()
      }
    },
    take: () => {
      if (state.hasFailed) {
        state.hasFailed = false
        return undefined
      }
      const rows = state.ready.splice(0, rowsAtOnce)
      if (rows.length === 0) return undefined
      trim(state, rows)
      return {
        steps: toRequestSteps(storage.db.kind, rows),
        rows: rows.length,
        failed: () => {
          state.dropped.storage += rows.length
          state.hasFailed = true
        },
      }
    },
    prepare: () => prepare(state),
    close: () => {
      state.isClosed = true
      return prepare(state)
    },
    remove: async (keyIds) => {
      state.waiting = state.waiting.filter(({ request }) => !keyIds.includes(request.keyId))
      state.ready = state.ready.filter(({ request }) => !keyIds.includes(request.keyId))
      await removeRequests(storage, keyIds).catch(() => {})
    },
    dropped: () => ({ ...state.dropped }),
  }
}
