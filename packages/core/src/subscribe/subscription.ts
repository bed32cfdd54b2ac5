import type { KeyrailError } from '../failure/keyrailError.ts'
import type { CallOptions } from '../schema/callOptions.ts'
import type { RpcBlock, RpcBlockHeader } from '../schema/block.ts'
import type { MinedBlockTag } from '../schema/blockTag.ts'
import type { Hash, Quantity } from '../schema/hex.ts'
import type { LogFilterFields, RpcLog } from '../schema/log.ts'

/** The kind of subscription. */
export type SubscriptionRequest =
  /** New blocks: their headers, or whole blocks with the hashes of their transactions or with full transactions. */
  | { readonly blocks: true | { readonly transactions: 'hashes' | 'full' } }
  /** Logs of new blocks. `{}` for all of them. */
  | { readonly logs: LogFilterFields }
  /** Hashes of transactions that enter the pool. Each node has its own pool, so none of the promises for blocks and logs holds. */
  | { readonly pending: true }

/** A block of the chain. */
export interface BlockPosition {
  readonly number: Quantity
  readonly hash: Hash
}

/** A new block, on top of the one before. */
export interface HeaderEvent {
  readonly type: 'block'
  /** The block without `transactions`, `size`, `uncles`, `withdrawals` and `totalDifficulty`. */
  readonly header: RpcBlockHeader
}

/** A new block, with its transactions or their hashes. */
export interface BlockEvent<WithTransactions extends boolean> extends HeaderEvent {
  readonly block: RpcBlock<WithTransactions>
}

/** A log of a new block. Logs are reported in chain order. */
export interface LogEvent {
  readonly type: 'log'
  readonly log: RpcLog
}

/** A transaction that entered the pool of a node. */
export interface TransactionEvent {
  readonly type: 'transaction'
  readonly hash: Hash
}

/** The newest blocks were replaced, or removed. What replaces them follows. */
export interface ReorgEvent<T> {
  readonly type: 'reorg'
  /** Undo what you have of the blocks above this one. */
  readonly ancestor: BlockPosition
  /**
   * What was reported and is no longer in the chain, newest first; logs with `removed: true`. Empty if none of it matched, and without what an
   * earlier subscription reported, whose cursor was passed to this one.
   */
  readonly removed: readonly T[]
}

/** The events of a subscription, by its request. */
export type SubscriptionEvent<R extends SubscriptionRequest = SubscriptionRequest> = R extends {
  readonly pending: true
}
  ? TransactionEvent
  : R extends { readonly logs: LogFilterFields }
    ? LogEvent | ReorgEvent<RpcLog>
    :
        | (R extends { readonly blocks: { readonly transactions: 'full' } }
            ? BlockEvent<true>
            : R extends { readonly blocks: { readonly transactions: 'hashes' } }
              ? BlockEvent<false>
              : R extends { readonly blocks: { readonly transactions: string } }
                ? BlockEvent<boolean>
                : HeaderEvent)
        | ReorgEvent<RpcBlockHeader>

/** A failure after which the subscription continues. */
export interface SubscriptionFailure {
  readonly error: KeyrailError
  /** How many attempts failed in a row, this one included. */
  readonly failures: number
  /** The delay before the next attempt, in milliseconds. */
  readonly waitMs: number
}

/** Options of {@link createSubscription}. The call options, such as `timeoutMs` and `minBlock`, apply to each of its calls. */
export interface SubscriptionOptions extends CallOptions {
  /** Continues an earlier subscription to the same blocks or logs where its cursor was taken: text that `cursor()` returned. */
  readonly cursor?: string | undefined
  /** The first block, in the past or in the future. Ignored if you pass a cursor. @default the block after the head when the subscription starts */
  readonly fromBlock?: bigint | number | MinedBlockTag | undefined
  /** Position of its calls in the queue when calls wait for a budget or for a free slot. @default 'poll' */
  readonly priority?: CallOptions['priority']
  /** Ends the subscription, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** The deepest reorganization that is followed, in blocks, from 1 to 1024. Events of this many blocks are stored in memory. @default 64 */
  readonly reorgDepth?: number | undefined
  /**
   * A fixed interval between polls, in milliseconds, at least 10.
   * @default adaptive: follows the chain's block time at about two polls a block, from 250 ms to 12 s
   */
  readonly pollingIntervalMs?: number | undefined
  /** Called for each failure after which the subscription continues. If it throws, the subscription ends with that error. */
  readonly onError?: ((failure: SubscriptionFailure) => void) | undefined
}

/** An async iterator of events that also reports its position. */
export interface Subscription<E> extends AsyncGenerator<E, void, undefined> {
  /** Returns the position after the last event that the loop has received, as JSON text. Store it to continue later, in another process too. */
  readonly cursor: () => string
}
