import type { Hash, Quantity } from './hex.ts'
import type { RpcLog, LogFilter } from './log.ts'
import type { RpcPendingTransaction } from './transaction.ts'

/** Filters that a node stores and a client polls. A node deletes a filter that is not polled for some minutes. */
export interface FilterMethods {
  /** Makes a filter for logs. Returns its id. Source: execution-apis, eth/filter. */
  eth_newFilter(filter: LogFilter): Promise<Quantity>
  /** Makes a filter for the hashes of new blocks. Returns its id. Source: execution-apis, eth/filter. */
  eth_newBlockFilter(): Promise<Quantity>
  /** Creates a filter for transactions that enter the pool; `full` returns more than their hashes (geth). Returns its id. Source: execution-apis, eth/filter. */
  eth_newPendingTransactionFilter(full?: boolean): Promise<Quantity>
  /** New logs, hashes or transactions since the last poll, depending on the filter. Source: execution-apis, eth/filter. */
  eth_getFilterChanges(filterId: Quantity): Promise<Hash[] | RpcLog[] | RpcPendingTransaction[]>
  /** All logs that a log filter matches, new or not. Source: execution-apis, eth/filter. */
  eth_getFilterLogs(filterId: Quantity): Promise<RpcLog[]>
  /** Ends a filter. `false` if the node did not know it. Source: execution-apis, eth/filter. */
  eth_uninstallFilter(filterId: Quantity): Promise<boolean>
}
