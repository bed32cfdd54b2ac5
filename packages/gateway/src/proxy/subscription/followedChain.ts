/** A block of a chain, identified so that a reorganization shows. */
export interface BlockPosition {
  readonly number: number
  /** In lower case, with `0x`. */
  readonly hash: string
}

/** A block of the followed chain, with what subscriptions deliver of it. */
export interface FollowedBlock extends BlockPosition {
  readonly parentHash: string
  /**
   * The header as JSON text: the node's block without `transactions`, `uncles`, `withdrawals`, `size` and `totalDifficulty`, which geth's `newHeads`
   * lacks, but with the members of the chain itself, such as `l1BlockNumber`.
   */
  readonly header: string
  /** Its logs in order; `undefined` if nobody needed them when it was read: then they were not delivered to any subscription. */
  readonly logs: readonly FollowedLog[] | undefined
}

/** A log of a followed block. */
export interface FollowedLog {
  /** In lower case. */
  readonly address: string
  /** In lower case. */
  readonly topics: readonly string[]
  /** The log as JSON text, with `"removed":false`. */
  readonly text: string
}

/** A change of the followed chain: a block was added on top, or the newest blocks were removed. */
export type ChainStep =
  | { readonly type: 'block'; readonly block: FollowedBlock }
  | {
      readonly type: 'reorg'
      /** The block that is the newest now. */
      readonly ancestor: BlockPosition
      /** Newest first. */
      readonly removed: readonly FollowedBlock[]
    }

/** The newest blocks that a client has, newest first, without gaps unless it skipped blocks: where it wants to continue. */
export interface ChainCursor {
  /** The number of the block of the first hash. */
  readonly number: number
  /** At most 256, in lower case. The hash at index `n` is that of a block at most as high as `number - n`. */
  readonly hashes: readonly string[]
}

/** The start of a subscription. */
export interface ChainStart {
  /** The newest block that the client has in common with the followed chain; without a cursor, the head. */
  readonly position: BlockPosition
  /** The blocks above it, oldest first. With logs if the subscription needs them. */
  readonly blocks: readonly FollowedBlock[]
}

/** Follows the chain of one network for all subscriptions of this process. */
export interface ChainFollower {
  /** Starts to follow at the head, unless it already does. The head is not a step. It emits the changes after it, each in a turn of its own, until `stop`. */
  readonly start: (listener: (step: ChainStep) => void) => void
  /** Stops, and forgets the blocks. Subscriptions that are about to start get `unavailable`. */
  readonly stop: () => void
  /**
   * Finds out where a subscription starts. `done` is called in the turn in which the result is current: the next step that the listener gets
   * continues it. That can be before this function returns. With `logs`, blocks that are emitted from then on have logs, until
   * `releaseLogs`.
   * @param options.cursor - `undefined`: at the head.
   * @param done - Gets `tooOld` if the cursor has no block of the last 128 of the chain, or the memory has no room for the blocks since then, and
   * `unavailable` if no node responds in time.
   */
  readonly locate: (
    options: { readonly cursor: ChainCursor | undefined; readonly logs: boolean },
    done: (start: ChainStart | 'tooOld' | 'unavailable') => void,
  ) => void
  /** Call this when no subscription needs logs any more. */
  readonly releaseLogs: () => void
}
