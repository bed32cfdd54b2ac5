import { now } from '../../clock/now.ts'

/** An entry in one of our queues. */
export interface Queued {
  /** When it entered the queue, as `now()` counts. */
  readonly since: number
}

/**
 * The clock of a call, which stops while the call waits in our queues, and the endpoints where it was tried. Records of the same call share one object:
 * its attempts at endpoints, one after another, and the shared request of its first caller.
 */
export interface CallProgress {
  /** Its entry in one of our queues; undefined if it does not wait. */
  queued: Queued | undefined
  /** How long it has waited in our queues before, in milliseconds. If it follows a call, what that call has waited is added to this. */
  queuedMs: number
  /** The redacted URLs of the endpoints that failed or were tried, if there are several, each with its last outcome. */
  tried: Map<string, string> | undefined
  /** The progress of another call that works for this one, such as a shared request. What happens to that call counts for this one too. */
  follows: CallProgress | undefined
}

export function createProgress(): CallProgress {
  return { queued: undefined, queuedMs: 0, tried: undefined, follows: undefined }
}

interface InProgress {
  readonly progress: CallProgress
}

/** Stops the clock of a call, which enters one of our queues. */
export function startWait({ progress }: InProgress, entry: Queued): void {
  progress.queued = entry
}

/** Starts the clock of a call again, which leaves the queue. */
export function endWait({ progress }: InProgress, entry: Queued, time: number): void {
  // An attempt that was canceled stays in the queue if it is part of a batch. Its call may have moved on.
  if (progress.queued !== entry) return
  progress.queuedMs += time - entry.since
  progress.queued = undefined
}

/** Makes a call follow another one that works for it: from now on, its clock also stops while the other one is queued. */
export function follow({ progress }: InProgress, other: InProgress): void {
  const time = now()
  const before = queueTime(progress, time)
  progress.follows = other.progress
  // What the other call has waited before does not count, and what the previous one has waited still does.
  progress.queuedMs += before - queueTime(progress, time)
}

function queueTime({ queued, queuedMs, follows }: CallProgress, time: number): number {
  return queuedMs + (queued ? time - queued.since : 0) + (follows ? queueTime(follows, time) : 0)
}

/** The time on the clock of a call, in milliseconds. It is `now()` without the time that the call has waited in our queues. */
export function callTime({ progress }: InProgress): number {
  const time = now()
  return time - queueTime(progress, time)
}

/** How long a call has until its deadline, in milliseconds. The time does not run while the call waits in our queues. */
export function timeLeft(call: InProgress & { readonly deadlineAt: number }): number {
  return call.deadlineAt - callTime(call)
}
