import { now } from '../clock/now.ts'
import type { Call } from './call.ts'

/** How long the records that work for a call have waited in queues of ours, the wait that goes on included, in milliseconds. */
export function waitedBelow({ below }: Call, time: number): number {
  if (!below) return 0
  const { waitedMs, waitingSince = time } = below
  return waitedMs + (time - waitingSince) + waitedBelow(below, time)
}

/**
 * Moves the deadline of a call by what the records that work for it have waited, as far as that was not done yet. The queues themselves move
 * the deadline of the record that stands in them, and know of no other.
 *
 * @param call - The call.
 * @param time - As `now()` counts.
 */
export function creditWaits(call: Call, time: number): void {
  const waited = waitedBelow(call, time)
  call.deadlineAt += Math.max(0, waited - call.creditedMs)
  call.creditedMs = waited
}

/** Another record works for a call from now on, or none. What that one has waited before is none of this call's time. */
export function setBelow(call: Call, below: Call | undefined): void {
  const time = now()
  creditWaits(call, time)
  // What the last one has waited stays known to those above.
  call.waitedMs += call.creditedMs
  call.below = below
  call.creditedMs = waitedBelow(call, time)
}

/** A call has waited in a queue of ours for so long. */
export function endWait(call: Call, waitedMs: number): void {
  call.deadlineAt += waitedMs
  call.waitedMs += waitedMs
  call.waitingSince = undefined
}

/** Whether a call waits in a queue of ours now: the call itself, or the record that works for it. */
export function isQueued({ below, waitingSince }: Call): boolean {
  return below ? isQueued(below) : waitingSince !== undefined
}
