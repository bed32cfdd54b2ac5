import type { Refusal } from '../../errors/rejection.ts'
import type { GroupMember } from './groupMember.ts'
import type { AnswerStream } from './openResponseStream.ts'
import type { NodeAnswer } from './readResponse.ts'

/** A result too large to keep. It must be begun to be read at once, within `done`: else it is stopped. */
export interface StreamedAnswer {
  readonly member: 'result'
  readonly stream: AnswerStream
}

/** How a call ended: with the node's answer, or with ours. */
export type CallEnd = NodeAnswer | StreamedAnswer | Refusal

/** Told how a call ended, and which upstream's answer it was. */
export type CallDone = (end: CallEnd, member?: GroupMember) => void
