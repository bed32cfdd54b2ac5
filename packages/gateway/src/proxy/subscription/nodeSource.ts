/** Events of a network's nodes: pushed by nodes with a WebSocket URL, polled from the others. */
export interface NodeSource {
  /** Calls the listener when a node says that it has a new head: a reason to read it now. Without a WebSocket URL it is never called. */
  readonly onHead: (listener: () => void) => () => void
  /**
   * Delivers the hashes of transactions that wait in the node's pool, each once as far as the last 100,000 are known, as long as there is a listener.
   * @returns A function that ends it.
   */
  readonly onPendingTransactions: (listener: (hashes: readonly string[]) => void) => () => void
  /**
   * Delivers when the node that the network's calls go to starts or ends to sync: its object of `eth_syncing` as JSON text, or `false`.
   * @returns A function that ends it.
   */
  readonly onSyncing: (listener: (status: string) => void) => () => void
  readonly close: () => void
}
