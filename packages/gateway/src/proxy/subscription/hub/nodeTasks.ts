import type { Channels } from './createChannels.ts'
import type { Delivery } from './createDelivery.ts'
import { toResultEnd } from './notification.ts'
import { isFull } from './subscriptionRequest.ts'

/** Whether anyone wants whole transactions. */
export const wantsFullTransactions = (channels: Channels): boolean =>
  [...channels.audiences('newPendingTransactions')].some(({ request }) => isFull(request))

/** Delivers pending transactions. @param transactions - JSON: whole ones if `full`, else hashes. */
export function* deliverTransactions(
  transactions: readonly string[],
  full: boolean,
  channels: Channels,
  delivery: Delivery,
): Generator<number, void> {
  const ends = transactions.map(toResultEnd)
  const notifications = { count: ends.length, toEnds: () => ends }
  for (const audience of channels.audiences('newPendingTransactions'))
    if (isFull(audience.request) === full) yield* delivery.add(audience, notifications)
  yield* delivery.flush()
}

/** Delivers a change of `eth_syncing`, as geth does. @param status - `false`, or the node's object as JSON. */
export function* deliverSyncing(status: string, channels: Channels, delivery: Delivery): Generator<number, void> {
  const end = toResultEnd(status === 'false' ? status : `{"syncing":true,"status":${status}}`)
  const notifications = { count: 1, toEnds: () => [end] }
  for (const audience of channels.audiences('syncing')) yield* delivery.add(audience, notifications)
  yield* delivery.flush()
}
