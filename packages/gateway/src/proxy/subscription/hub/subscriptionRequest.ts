import type { ChainCursor } from '../followedChain.ts'

/** The filter of a subscription to logs. */
export interface SubscriptionFilter {
  /** In lower case, sorted, without duplicates. Empty: any address. */
  readonly addresses: readonly string[]
  /** The topics that are accepted at each position, as for addresses. A log has at least as many topics as there are positions. */
  readonly topics: readonly (readonly string[])[]
}

interface CommonRequest {
  /** The same for requests that get the same notifications, however they are spelled; without the position in the chain that a client resumes from. */
  readonly key: string
}

/** The start of a subscription to blocks or logs. `undefined`: plain mode. `null`: cursor mode, at the head. */
type RequestedCursor = ChainCursor | null | undefined

/** A checked request to subscribe. */
export type SubscriptionRequest = CommonRequest &
  (
    | { readonly kind: 'newHeads'; readonly cursor: RequestedCursor }
    | { readonly kind: 'logs'; readonly filter: SubscriptionFilter; readonly cursor: RequestedCursor }
    | {
        readonly kind: 'newPendingTransactions'
        /** Whole transactions, not only their hashes. */
        readonly full: boolean
      }
    | { readonly kind: 'syncing' }
  )

/** The params of `eth_subscribe` that request the same notifications. */
export const toSubscribeParams = (request: SubscriptionRequest): string => {
  if (request.kind === 'newPendingTransactions') return JSON.stringify([request.kind, request.full])
  if (request.kind !== 'logs') return JSON.stringify([request.kind])
  const { addresses, topics } = request.filter
  return JSON.stringify([request.kind, { ...(addresses.length > 0 ? { address: addresses } : {}), topics }])
}

/** Whether whole pending transactions were requested: each of them is read from a node, once for all subscriptions. */
export const isFull = (request: SubscriptionRequest): boolean =>
  request.kind === 'newPendingTransactions' && request.full
