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
  readonly getStoredBytes: () => Promise<number>
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of nodes. */
export type OpenProxy = (nodes: readonly { readonly url: string }[]) => Promise<MeasuredProxy>
