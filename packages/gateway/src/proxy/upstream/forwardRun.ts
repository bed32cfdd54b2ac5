import type { Deadline } from '../../lib/createDeadlines.ts'
import type { CallResult, CallsDone } from './callResult.ts'
import { chooseEnd, decideNext } from './failureRules.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { rememberNull } from './nullResults.ts'
import type { SentCalls } from './pickNext.ts'
import type { AttemptResult } from './readAttempt.ts'
import { recordHealth, stopAttempt } from './sendAttempt.ts'
import type { Attempt } from './sendAttempt.ts'

/** Calls that have a slot of their key, and are forwarded now. */
export interface Run extends SentCalls {
  readonly done: CallsDone
  /** Several calls are sent as a batch, and so are those that are left of it. */
  readonly isBatch: boolean
  /** It is sent to several upstreams at once. */
  readonly isBroadcast: boolean
  /** By `performance.now`. */
  readonly endsAt: number
  readonly deadline: Deadline
  /** Sends the calls to one more upstream, or ends the wait for a confirmed `null`. */
  timer: NodeJS.Timeout | undefined
  /** The timer ends the wait for a confirmed `null`. */
  isConfirming: boolean
  readonly tried: GroupMember[]
  readonly ends: (AttemptResult | undefined)[]
  /** The attempts in flight. */
  readonly open: Attempt[]
  over: boolean
  /** It holds its key's slot, until the calls end or their stream does. */
  holdsSlot: boolean
}

/** Ends calls that were not sent, all with the same result. */
export const endAll = (calls: readonly ForwardedCall[], result: CallResult | undefined, done: CallsDone): void => {
  for (let place = 0; place < calls.length; place += 1) done(result, undefined, place)
}

/** The time that is left, in milliseconds. */
export const getLeftMs = ({ endsAt }: Run): number => endsAt - performance.now()

/** Takes the end of an attempt at a call. @returns Whether another upstream may have a better one. */
export const takeEnd = ({ calls, ends, scope }: Run, place: number, end: AttemptResult): boolean => {
  const call = calls[place]
  if (call === undefined) return false
  const best = ends[place]
  const { idempotent } = call.traits
  const isFinal = decideNext(end, { best, idempotent }) === 'finish'
  if (isFinal && end.kind === 'null') rememberNull(scope.group, call, end.member)
  // A write that may have been run must not end with the failure of an earlier attempt, which says that it was not.
  ends[place] = isFinal && !idempotent ? end : chooseEnd(best, end)
  return !isFinal
}

/** Counts the attempts in flight as failures of their upstreams. */
export const failOpen = ({ calls, open }: Run): void => {
  for (const attempt of open) recordHealth(attempt, 'timeout', calls[0]?.traits.expensive)
}

/** Ends the run, each call with its best end. */
export const finish = (run: Run, kind: 'timeout' | 'aborted' = 'aborted'): void => {
  // The other copies of a write are not stopped: their nodes should get it too. The run holds its slot until they end.
  if (run.isBroadcast && kind === 'aborted' && run.open.length > 0) run.over = true
  else stopRun(run, kind)
  for (let place = 0; place < run.calls.length; place += 1) {
    const end = run.ends[place]
    run.done(end && toResult(end), end?.member, place)
  }
}

/** Masks the upstream's secrets if the response is an error. */
const toResult = ({ result, member: { upstream } }: AttemptResult): CallResult =>
  'value' in result && result.member === 'error'
    ? { ...result, value: upstream.maskError(Buffer.from(result.value)) }
    : result

/** Stops the timers and the attempts in flight, and returns the slot. */
export const stopRun = (run: Run, kind: 'timeout' | 'aborted'): void => {
  endRun(run, kind)
  release(run)
}

/** Stops the timers and the attempts in flight. */
export const endRun = (run: Run, kind: 'timeout' | 'aborted'): void => {
  run.over = true
  run.scope.group.deadlines.cancel(run.deadline)
  clearTimeout(run.timer)
  for (const attempt of run.open.splice(0)) stopAttempt(attempt, kind)
}

/** Returns the slot of the key. */
export const release = (run: Run): void => {
  if (!run.holdsSlot) return
  run.holdsSlot = false
  run.scope.group.queue.release(run.scope)
}
