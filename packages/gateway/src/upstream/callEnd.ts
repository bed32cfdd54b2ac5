import type { Refusal } from '../refusal/refusal.ts'
import type { GroupMember } from './groupMember.ts'
import type { AnswerStream } from './openAnswerStream.ts'
import type { NodeAnswer } from './readAnswer.ts'

/** A result too large to keep. It must be begun to be read at once, within `done`: else it is stopped. */
export interface StreamedAnswer {
  readonly member: 'result'
  readonly stream: AnswerStream
}

/** How a call ended: with the node's answer, or with ours. */
export type CallEnd = NodeAnswer | StreamedAnswer | Refusal

/** Told how a call ended, and which upstream's answer it was. */
export type CallDone = (end: CallEnd, member?: GroupMember) => void
