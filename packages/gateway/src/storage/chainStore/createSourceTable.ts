import type { SourceRows } from './chainRows.ts'

/** The node that an answer is from. */
export interface AnswerSource {
  /** The network, its chain id and epoch. */
  readonly chain: string
  /** The name of the upstream. */
  readonly upstream: string
  /** A hash of its URL, which says whether two answers are from one node: after the config has changed, a name can be that of another one. @default upstream */
  readonly node?: string
  /**
   * With `cache.confirm`: the group of the node. Nothing that it sends is served before a node of another group has sent the same. @default only what is
   * empty is confirmed
   */
  readonly group?: string | undefined
  /** The revision of the chain when the node was asked: the answer is not stored if it is another one now. @default any */
  readonly revision?: number
}

/** The node that an answer is from, and what that answer confirms. */
export interface Answerer {
  readonly source: number
  /** Whether the answer confirms one of `at`, in milliseconds since 1970, if both are the same. */
  readonly mayConfirm: (row: { readonly source: number; readonly at: number }) => boolean
}

/** A node may say that a range is empty while it still indexes. After this long, its own second answer confirms it. */
export const confirmAfterMs = 10 * 60_000

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
