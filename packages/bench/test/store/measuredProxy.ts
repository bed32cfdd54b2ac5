/** What one sync of an indexer cost. */
export interface SyncCost {
  readonly name: string
  /** Its calls that do not name a tag, and of these those of final blocks. */
  readonly calls: number
  readonly finalCalls: number
  /** The queries of nodes for them. */
  readonly queries: number
  readonly finalQueries: number
  /** The logs that nodes sent. */
  readonly logs: number
  readonly seconds: number
  /** How many results were wrong. */
  readonly wrong: number
}

/** A proxy between an indexer and nodes. */
export interface MeasuredProxy {
  readonly rpcUrl: string
  /** Waits until everything of a sync is stored. */
  readonly finishSync: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of nodes. */
export type OpenProxy = (nodes: readonly { readonly url: string }[]) => Promise<MeasuredProxy>

/** Options of the syncs of an indexer. */
export interface SyncOptions {
  readonly open: OpenProxy
  /** The length of the chain. */
  readonly blocks: number
  readonly seed: number
  /** Called after each sync. */
  readonly onSync: (sync: SyncCost) => void
}
