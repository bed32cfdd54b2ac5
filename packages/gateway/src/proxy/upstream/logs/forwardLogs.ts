import type { CallScope, SendCall, SendOptions } from '../callScope.ts'
import type { CallDone, CallResult } from '../callResult.ts'
import { forwardCall } from '../forward.ts'
import { pickWithRoom } from '../pickWithRoom.ts'
import { toPickOptions } from '../forwardedCall.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { createCallSender } from './createCallSender.ts'
import type { LogRanges } from './createLogRanges.ts'
import { parseLogFilter } from './parseLogFilter.ts'
import type { LogFilter } from './parseLogFilter.ts'
import { readRangeError } from './rangeError.ts'
import type { RangeError } from './rangeError.ts'
import { maxQueries, splitLogs } from './splitLogs.ts'

/**
 * Forwards a read. If it is `eth_getLogs` and a node rejects its range, the range is read in parts, and the result is the one that a node without
 * a limit would send. If that is not possible either, the caller gets the node's rejection.
 */
export const forwardRead: SendCall = (call, scope, options, done) => {
  const { logRanges } = scope.group
  const filter =
    logRanges === undefined || call.method !== 'eth_getLogs' ? undefined : parseLogFilter(call.params ?? '')
  return logRanges === undefined || filter === undefined
    ? forwardCall(call, scope, options, done)
    : forwardLogs(call, { scope, options, filter, ranges: logRanges }, done)
}

interface LogOptions {
  readonly scope: CallScope
  readonly options: SendOptions
  readonly filter: LogFilter
  readonly ranges: LogRanges<GroupMember>
}

/** How a node rejected the whole range. */
interface RejectedRange {
  readonly result: CallResult
  readonly error: RangeError
}

const forwardLogs = (
  call: ForwardedCall,
  { scope, options, filter, ranges }: LogOptions,
  done: CallDone,
): (() => void) => {
  const { group, budget, ownerId, keyId } = scope
  const { neededHead: seenHead, receivedLogs, only } = options
  const sender = createCallSender(scope, options)
  const endsAt = performance.now() + (options.deadlineMs ?? scope.timeoutMs)
  const finish: CallDone = (result, member) => {
    if (!sender.isStopped()) done(result, member)
  }
  /** Reads the range in parts, at the first node and, if that fails, at each other node once. */
  const split = async (first: GroupMember, rejected?: RejectedRange): Promise<void> => {
    const tried: GroupMember[] = []
    let failure: Parameters<CallDone> | undefined = rejected && [rejected.result, first]
    for (
      let member: GroupMember | undefined = first;
      member !== undefined;
      member =
        only === undefined
          ? await pickWithRoom(scope, toPickOptions([call], { tried, ownerId, seenHead }), {
              endsAt,
              isStopped: sender.isStopped,
            })
          : undefined
    ) {
      const error = tried.length === 0 ? rejected?.error : undefined
      tried.push(member)
      const result = await splitLogs({ call, filter, member, rejected: error, ranges, sender, budget, receivedLogs })
      if (result !== 'impossible' && isFinal(result)) {
        finish(result, member)
        return
      }
      if (result !== 'impossible') failure ??= [result, member]
    }
    // A node's own rejection says best what is wrong with the range.
    if (failure === undefined) sender.send(call, {}, finish)
    else finish(...failure)
  }
  const preferred = only ?? group.pick(toPickOptions([call], { seenHead, ownerId, keyId }))
  if (preferred !== undefined && isTooLong(filter, preferred, ranges)) void split(preferred)
  else
    sender.send(call, {}, (result, member) => {
      const error = readRangeError(result)
      if (error === undefined || member === undefined) finish(result, member)
      else void split(member, { result, error })
    })
  return sender.stop
}

/** Whether a split has ended for good: with the logs, or because the chain has changed. */
const isFinal = (result: CallResult): boolean =>
  'reason' in result ? result.reason === 'chain_reorganized' : result.member === 'result'

/** Whether a node would reject the whole range, as far as its errors have shown. */
const isTooLong = ({ from, to }: LogFilter, member: GroupMember, ranges: LogRanges<GroupMember>): boolean => {
  const limit = ranges.get(member)
  if (limit === undefined || typeof from !== 'number') return false
  const head = member.head()
  const last = typeof to === 'number' ? Math.min(to, head ?? to) : (head ?? from)
  const blocks = last - from + 1
  return blocks > limit && blocks <= limit * maxQueries
}
