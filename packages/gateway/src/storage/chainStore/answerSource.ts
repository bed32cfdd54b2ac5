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

/** A node may say that a range is empty while it still indexes. After this long, its own second answer confirms it. */
export const confirmAfterMs = 10 * 60_000
