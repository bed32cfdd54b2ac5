import type { StoredLogs } from './createChainReader.ts'
import type { ChainFileStats } from './createChainUpkeep.ts'
import type { ChainWriter, EntryAnswer, LogAnswer } from './createChainWriter.ts'
import type { LogQuery } from './logQuery.ts'
import type { ChainThread } from './startChainThread.ts'

/** Where `keyrail_cache_dropped_total` counts what was not stored: the writer was behind, the disk or Redis failed, or the answer was not one. */
export type DropReason = 'queue' | 'disk' | 'redis' | 'invalid'

/**
 * What can no longer change on chains, in a file that instances of one machine share, or in a Redis that all instances share. If it fails, nothing is
 * found in it and nothing is stored: no function rejects, except where it says so.
 */
export interface ChainStore extends Pick<ChainThread<ChainWriter>, 'call'> {
  /** Whether everything is confirmed by a node of another group before it is served. */
  readonly confirm: boolean
  /** Reads what is stored of a query. @returns `undefined` if the store cannot be used for it. */
  readonly readLogs: (
    chain: string,
    query: LogQuery,
    bounds: { readonly maxBytes: number } & ReadOptions,
  ) => Promise<StoredLogs | undefined>
  /** Joins results of `eth_getLogs`: what they have of a query, whose topics they all have. @returns `different` if they cannot be of one chain, and `undefined` if they cannot be joined now. */
  readonly joinLogs: (
    results: readonly Uint8Array[],
    options?: ReadOptions & { readonly of?: LogQuery },
  ) => Promise<Uint8Array | 'different' | undefined>
  readonly readEntry: (text: string, options?: ReadOptions) => Promise<Uint8Array | undefined>
  /** Stores an answer later. Copies its bytes. @returns `undefined` if it could not be stored. */
  readonly addLogs: (answer: LogAnswer) => Promise<ReturnType<ChainWriter['addLogs']> | undefined>
  readonly addEntry: (answer: EntryAnswer) => Promise<ReturnType<ChainWriter['addEntry']> | undefined>
  readonly getDropped: () => Readonly<Partial<Record<DropReason, number>>>
  /** Deletes what is stored of a chain, or of one node. @throws the error of the store */
  readonly purge: (chain: string | undefined, upstream: string | undefined) => Promise<void>
  /** @throws the error of the store */
  readonly getStats: () => Promise<ChainFileStats>
  readonly close: () => Promise<void>
}

/** Options of a read. */
interface ReadOptions {
  /** How long it may take, in milliseconds. @default 1000, which is also the most */
  readonly waitMs?: number
}
