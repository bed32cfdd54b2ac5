import type { Channels } from './createChannels.ts'
import type { Delivery } from './createDelivery.ts'
import { toResultEnd } from './notification.ts'
import { isFull } from './subscriptionRequest.ts'

/** Whether anyone wants whole transactions. */
export const wantsFullTransactions = (channels: Channels): boolean =>
  [...channels.groups('newPendingTransactions')].some(({ request }) => isFull(request))

/** Delivers pending transactions. @param transactions - JSON: whole ones if `full`, else hashes. */
export function* deliverTransactions(
  transactions: readonly string[],
  full: boolean,
  channels: Channels,
  delivery: Delivery,
): Generator<number, void> {
  const ends = transactions.map(toResultEnd)
  const notifications = { count: ends.length, toEnds: () => ends }
  for (const group of channels.groups('newPendingTransactions'))
    if (isFull(group.request) === full) yield* delivery.add(group, notifications)
  yield* delivery.flush()
}

/** Delivers a change of `eth_syncing`, as geth does. @param status - `false`, or the node's object as JSON. */
export function* deliverSyncing(status: string, channels: Channels, delivery: Delivery): Generator<number, void> {
  const end = toResultEnd(status === 'false' ? status : `{"syncing":true,"status":${status}}`)
  const notifications = { count: 1, toEnds: () => [end] }
  for (const group of channels.groups('syncing')) yield* delivery.add(group, notifications)
  yield* delivery.flush()
}
