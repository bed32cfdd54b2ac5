import type { Rejection } from '../../errors/rejection.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import type { ResponseStream } from './openResponseStream.ts'
import type { NodeResponse } from './readResponse.ts'

/** A result that is too large to buffer. Start the stream inside `done`, or it is stopped. */
export interface StreamedResponse {
  readonly member: 'result'
  readonly stream: ResponseStream
}

/** How a call ended: the node's response, or a rejection by the gateway. */
export type CallResult = NodeResponse | StreamedResponse | Rejection

/** Whether a result was in the chain store: then no node was asked. */
export const isFromStore = (result: CallResult): boolean => 'cachedIn' in result && result.cachedIn === 'store'

/** Called when a call ends, with the upstream that sent the response, if one did. */
export type CallDone = (result: CallResult, member?: GroupMember) => void

/**
 * Called for each of several calls that were forwarded together, once all have ended, with the call's place. A call of a batch that got no response of
 * its own has no result.
 */
export type CallsDone = (result: CallResult | undefined, member: GroupMember | undefined, place: number) => void

/** A call of a request that may be forwarded, or why it is rejected. */
export type CheckedCall = ForwardedCall | Rejection

/**
 * Stops calls, except for writes in flight, because a node may have received them.
 * @param stopped - Called once these have ended too: from then on, nothing changes what the calls cost.
 */
export type StopCalls = (stopped: () => void) => void

/** The callbacks of the calls of a request. */
export interface RunListener {
  /** Called once, with one result per call; not after a cancel. */
  readonly done: (results: readonly CallResult[]) => void
  /**
   * Called with the places of the calls that failed without being sent to a node: before `done`, or at a cancel. After a cancel it is also
   * called for each write that was still running and then failed that way.
   */
  readonly unsent: (places: readonly number[]) => void
}
