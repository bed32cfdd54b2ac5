import { pause } from '../clock/pause.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { Hash } from '../schema/hex.ts'
import type { CallOptions } from '../transport/call.ts'
import type { Transport } from '../transport/transport.ts'
import { malformed } from './chainBlock.ts'
import type { Recovery } from './recovery.ts'
import type { TransactionEvent } from './subscription.ts'

/** How often a filter is polled, in milliseconds. */
const defaultIntervalMs = 1_000

/**
 * Reports the transactions that enter the pool, by polling a filter on the node. Nodes delete filters that are not polled for some minutes; then
 * a new one is created, and transactions in between are missed.
 *
 * @param transport - Sends the calls.
 * @param recovery - Continues after failures.
 * @param options - The options of each call.
 * @param intervalMs - The interval between polls.
 */
export async function* pollPendingTransactions(
  transport: Transport,
  recovery: Recovery,
  options: CallOptions & { readonly signal: AbortSignal },
  intervalMs: number = defaultIntervalMs,
): AsyncGenerator<TransactionEvent, void, undefined> {
  // A filter exists on one node only.
  const group = (transport as Transport & { readonly group?: () => Transport }).group?.() ?? transport
  let filter: unknown
  try {
    for (;;) {
      let waitMs = intervalMs
      let hashes: unknown = []
      try {
        if (filter === undefined)
          filter = await group.request({ method: 'eth_newPendingTransactionFilter', params: [] }, options)
        else hashes = await group.request({ method: 'eth_getFilterChanges', params: [filter] }, options)
        if (!Array.isArray(hashes)) throw malformed('the result of eth_getFilterChanges', 'an array')
        recovery.succeeded()
      } catch (error) {
        if (filter === undefined || !isLostFilter(error)) waitMs = recovery.failed(error)
        else {
          filter = undefined
          waitMs = 0
        }
      }
      for (const hash of hashes as Hash[]) yield { type: 'transaction', hash }
      await pause(waitMs, options.signal)
    }
  } finally {
    if (group !== transport) group.close()
  }
}

/** Whether the node does not know the filter, or no longer: nodes use the codes -32000 and -32602 for it. */
const isLostFilter = (error: unknown): boolean => isKeyrailError(error) && /filter/i.test(error.rpcError?.message ?? '')
