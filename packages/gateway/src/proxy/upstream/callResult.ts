import type { Rejection } from '../../errors/rejection.ts'
import type { GroupMember } from './groupMember.ts'
import type { ResponseStream } from './openResponseStream.ts'
import type { NodeResponse } from './readResponse.ts'

/** A result too large to keep. It must be begun to be read at once, within `done`: else it is stopped. */
export interface StreamedResponse {
  readonly member: 'result'
  readonly stream: ResponseStream
}

/** How a call ended: with the node's answer, or with ours. */
export type CallResult = NodeResponse | StreamedResponse | Rejection

/** Told how a call ended, and which upstream's answer it was. */
export type CallDone = (end: CallResult, member?: GroupMember) => void
