import { now } from '../clock/now.ts'
import type { Call } from './call.ts'

/** How long the records below a call have waited in our queues, including a wait that has not ended, in milliseconds. */
export function queueTimeBelow({ below }: Call, time: number): number {
  if (!below) return 0
  const { waitedMs, waitingSince = time } = below
  return waitedMs + (time - waitingSince) + queueTimeBelow(below, time)
}

/**
 * Moves the deadline of a call by the queue time of the records below it that was not added before. A queue only moves the deadline of the record
 * that waits in it.
 *
 * @param call - The call.
 * @param time - As `now()` counts.
 */
export function addQueueTime(call: Call, time: number): void {
  const waited = queueTimeBelow(call, time)
  call.deadlineAt += Math.max(0, waited - call.creditedMs)
  call.creditedMs = waited
}

/** Sets the record that does the work of a call from now on, if any. The time that the record waited before does not count for this call. */
export function setWorker(call: Call, below: Call | undefined): void {
  const time = now()
  addQueueTime(call, time)
  // The queue time of the previous record still counts for the calls above.
  call.waitedMs += call.creditedMs
  call.below = below
  call.creditedMs = queueTimeBelow(call, time)
}

/** Ends the wait of a call in one of our queues, and moves its deadline by the time that it waited. */
export function endQueueTime(call: Call, waitedMs: number): void {
  call.deadlineAt += waitedMs
  call.waitedMs += waitedMs
  call.waitingSince = undefined
}

/** Whether a call waits in a queue of ours now: the call itself, or the record that works for it. */
export function isQueued({ below, waitingSince }: Call): boolean {
  return below ? isQueued(below) : waitingSince !== undefined
}
