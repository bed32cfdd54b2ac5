import { setImmediate as nextRound } from 'node:timers/promises'
import type { Storage } from '../../storage/openStorage.ts'
import type { AlongsideBatch } from '../metering/createMeter.ts'
import { admitRequest, countAdded, createRequestAdmission, hasRoomFor } from './requestAdmission.ts'
import type { RecordedRequest, RequestLog } from './requestLog.ts'
import { defaultRequestLogSettings } from './requestLogSettings.ts'
import type { RequestLogSettings } from './requestLogSettings.ts'
import { toRequestSteps, toTrimStep } from './requestLogRows.ts'
import type { RequestRow } from './requestLogRows.ts'
import { removeRequests } from './requestLogUpkeep.ts'
import { toRequestRow } from './toRequestRow.ts'
import type { Masks } from './toRequestRow.ts'

/**
 * Why requests were not recorded: more failed or reverted ones than the bound of the key, more than the bound of all keys, a full buffer, an error while their
 * texts were masked, or a database that could not write them.
 */
export type DropReason = 'keyLimit' | 'limit' | 'buffer' | 'mask' | 'storage'

/** A request log that is written to the storage, in the transactions of metering. */
export interface StoredRequestLog extends RequestLog {
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

interface Waiting {
  readonly request: RecordedRequest
  readonly at: number
}

/** Most requests that wait to be masked or written. */
const maxWaiting = 5_000
/** Requests in one transaction. */
const rowsAtOnce = 250
/** Requests that are masked before others get the thread. */
const masksAtOnce = 4
/** Most keys whose stored requests are counted. */
const maxCountedKeys = 100_000

/**
 * Creates a request log. Entries that cannot be written are dropped, because they must not delay metering.
 * @param options.settings - Called for each request, so that a new configuration applies at once. `undefined`: nothing is recorded.
 * @param options.prepareMs - How long after a request it is masked, in milliseconds. @default 250
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createRequestLog = ({
  storage,
  settings,
  prepareMs = 250,
  now = Date.now,
}: {
  storage: Pick<Storage, 'db' | 'write'>
  settings: () => RequestLogSettings | undefined
  prepareMs?: number
  now?: (() => number) | undefined
}): StoredRequestLog => {
  const { db, write } = storage
  const dropped: Record<DropReason, number> = { keyLimit: 0, limit: 0, buffer: 0, mask: 0, storage: 0 }
  const admission = createRequestAdmission()
  let waiting: Waiting[] = []
  /** Masked requests. */
  let ready: RequestRow[] = []
  /** How many requests of each key were taken since its oldest ones were last removed. */
  const taken = new Map<string, number>()
  /** Whether the last write failed. The next one has no requests, so that they never keep metering from writing. */
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const prepareOnce = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const masks: Masks = new Map()
    for (let count = 1; waiting.length > 0; count += 1) {
      const { request, at } = waiting.shift() as Waiting
      try {
        ready.push(toRequestRow(request, at, masks))
      } catch {
        dropped.mask += 1
      }
      if (count % masksAtOnce === 0) await nextRound()
    }
  }
  let preparing: Promise<void> = Promise.resolve()
  const prepare = (): Promise<void> => (preparing = preparing.then(prepareOnce))

  /** Removes the oldest requests of keys with too many: now and then, and not in the transactions of metering, which could wait for each other. */
  const trim = (rows: readonly RequestRow[]): void => {
    const { maxPerKey: most } = settings() ?? defaultRequestLogSettings
    if (taken.size > maxCountedKeys) taken.clear()
    for (const { keyId } of rows.map(({ request }) => request)) {
      const count = (taken.get(keyId) ?? 0) + 1
      taken.set(keyId, count)
      if (count <= most / 10) continue
      taken.delete(keyId)
      // The next time removes what this one does not.
      write([toTrimStep(db.kind, { keyId, most })], { light: true }).catch(() => {})
    }
  }

  return {
    admits: (keyId, outcome) => {
      const limits = settings()
      if (limits === undefined || isClosed) return false
      const admitted = admitRequest(admission, { keyId, outcome, time: now() }, limits)
      if (admitted === 'keyLimit') dropped.keyLimit += 1
      return admitted === 'admitted'
    },
    add: (request) => {
      if (isClosed) return
      if (!hasRoomFor(admission, request.keyId, settings() ?? defaultRequestLogSettings)) dropped.limit += 1
      else if (waiting.length + ready.length >= maxWaiting) dropped.buffer += 1
      else {
        countAdded(admission, request.keyId)
        waiting.push({ request, at: now() })
        // Without requests, nothing runs.
        timer ??= setTimeout(() => void prepare(), prepareMs).unref()
      }
    },
    take: () => {
      if (hasFailed) {
        hasFailed = false
        return undefined
      }
      const rows = ready.splice(0, rowsAtOnce)
      if (rows.length === 0) return undefined
      trim(rows)
      return {
        steps: toRequestSteps(db.kind, rows),
        rows: rows.length,
        failed: () => {
          dropped.storage += rows.length
          hasFailed = true
        },
      }
    },
    prepare,
    close: () => {
      isClosed = true
      return prepare()
    },
    remove: async (keyIds) => {
      waiting = waiting.filter(({ request }) => !keyIds.includes(request.keyId))
      ready = ready.filter(({ request }) => !keyIds.includes(request.keyId))
      await removeRequests(storage, keyIds).catch(() => {})
    },
    dropped: () => ({ ...dropped }),
  }
}
