import { confirmAfterMs } from './answerSource.ts'
import type { AnswerSource } from './answerSource.ts'
import type { SourceRows } from './chainRows.ts'

/** The node that an answer is from, and what that answer confirms. */
export interface Answerer {
  readonly source: number
  /** Whether the answer confirms one of `at`, in milliseconds since 1970, if both are the same. */
  readonly mayConfirm: (row: { readonly source: number; readonly at: number }) => boolean
}

/** Adds the node of an answer to those that sent what is stored. @param now - Milliseconds since 1970. */
export const toAnswerer = (sources: SourceRows, answer: AnswerSource, now: () => number): Answerer => {
  const { group } = answer
  const source = sources.add(answer)
  return {
    source,
    mayConfirm: (row) =>
      group === undefined
        ? row.source !== source || now() - row.at >= confirmAfterMs
        : sources.isOfOtherGroup(row.source, group),
  }
}
