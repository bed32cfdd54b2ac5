import { minuteMs } from '../metering/usageTime.ts'
import type { RequestLogSettings } from './requestLogSettings.ts'

/*
 * Which requests are recorded, by how many of a key and of all keys were seen in the minute. This file does no I/O.
 */

/** How many requests of a key were seen in a minute, and how many of them were added. */
interface KeyMinute {
  added: number
  failed: number
  reverted: number
  succeeded: number
  sampled: number
}

/** What was seen and added in the current minute. */
export interface RequestAdmission {
  minute: number
  byKey: Map<string, KeyMinute>
  added: number
}

/** How many requests of a key are recorded in a minute although half of the bound of all keys is used. */
const reservedPerKey = 5

/** Creates the state before the first request. */
export const createRequestAdmission = (): RequestAdmission => ({ minute: 0, byKey: new Map(), added: 0 })

const getCounts = ({ byKey }: RequestAdmission, keyId: string): KeyMinute => {
  let counts = byKey.get(keyId)
  if (counts === undefined) byKey.set(keyId, (counts = { added: 0, failed: 0, reverted: 0, succeeded: 0, sampled: 0 }))
  return counts
}

/**
 * Decides whether a request will be recorded, by its outcome. Reverts have a bound of their own: a contract that reverts all day must not hide what fails.
 * @param time - In milliseconds since 1970.
 * @returns `keyLimit`: its key has reached the bound of requests that did not succeed. `sample`: it is none of the sample.
 */
export const admitRequest = (
  state: RequestAdmission,
  { keyId, outcome, time }: { readonly keyId: string; readonly outcome: string; readonly time: number },
  limits: RequestLogSettings,
): 'admitted' | 'keyLimit' | 'sample' => {
  const minute = Math.floor(time / minuteMs)
  if (minute !== state.minute) Object.assign(state, { minute, byKey: new Map(), added: 0 })
  const counts = getCounts(state, keyId)
  if (outcome !== 'succeeded') {
    const kind = outcome === 'reverted' ? 'reverted' : 'failed'
    counts[kind] += 1
    return counts[kind] <= limits.maxPerKeyAndMinute ? 'admitted' : 'keyLimit'
  }
  counts.succeeded += 1
  if (counts.succeeded <= limits.firstPerMinute) return 'admitted'
  if (counts.succeeded % limits.sample !== 0) return 'sample'
  counts.sampled += 1
  return counts.sampled <= limits.maxPerKeyAndMinute ? 'admitted' : 'sample'
}

/** Whether the bound of all keys has room for a request. A few keys with many failures must not leave nothing for the others. */
export const hasRoomFor = (state: RequestAdmission, keyId: string, { maxPerMinute }: RequestLogSettings): boolean =>
  state.added < (getCounts(state, keyId).added < reservedPerKey ? maxPerMinute : maxPerMinute / 2)

/** Counts a request that was added. */
export const countAdded = (state: RequestAdmission, keyId: string): void => {
  state.added += 1
  getCounts(state, keyId).added += 1
}
