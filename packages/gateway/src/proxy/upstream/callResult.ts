import type { Rejection } from '../../errors/rejection.ts'
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

/** Called when a call ends, with the upstream that sent the response, if one did. */
export type CallDone = (result: CallResult, member?: GroupMember) => void
