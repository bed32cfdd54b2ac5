import type * as PromClient from 'prom-client'
import type { WebSocketState } from '../proxy/gateway.ts'
import type { LogEntry } from '../proxy/log.ts'

type WebSocketEntry = Extract<LogEntry, { readonly event: 'webSocket' }>

/**
 * Registers the metrics of WebSockets.
 * @param read - Called at each scrape.
 * @param options.prometheus - The library, which is imported lazily.
 * @returns Counts a log entry.
 */
export const registerWebSockets = (
  read: () => WebSocketState,
  { prometheus: { Counter, Gauge }, registers }: { prometheus: typeof PromClient; registers: PromClient.Registry[] },
): ((entry: WebSocketEntry) => void) => {
  const connections = new Gauge({
    name: 'keyrail_websocket_connections',
    help: 'Open WebSockets.',
    labelNames: ['network'],
    registers,
    collect: () => {
      connections.reset()
      for (const [network, count] of read().connections) connections.set({ network }, count)
    },
  })
  const subscriptions = new Gauge({
    name: 'keyrail_subscriptions',
    help: 'Subscriptions of open WebSockets, by kind.',
    labelNames: ['network', 'kind'],
    registers,
    collect: () => {
      subscriptions.reset()
      for (const [network, counts] of read().subscriptions)
        for (const [kind, count] of Object.entries(counts)) subscriptions.set({ network, kind }, count)
    },
  })
  const notifications = new Counter({
    name: 'keyrail_notifications_total',
    help: 'Notifications of subscriptions that were sent, by kind.',
    labelNames: ['network', 'kind'],
    registers,
    collect: () => {
      notifications.reset()
      for (const [network, counts] of read().notifications)
        for (const [kind, count] of counts) notifications.inc({ network, kind }, count)
    },
  })
  const incomplete = new Counter({
    name: 'keyrail_subscription_incomplete_blocks_total',
    help: 'Blocks whose logs were delivered although nothing confirmed that they are complete.',
    labelNames: ['network'],
    registers,
    collect: () => {
      incomplete.reset()
      for (const [network, count] of read().incompleteBlocks) incomplete.inc({ network }, count)
    },
  })
  const closed = new Counter({
    name: 'keyrail_websocket_closed_total',
    help: 'WebSockets that have closed, by reason.',
    labelNames: ['network', 'reason'],
    registers,
  })
  return (entry) => {
    if (entry.state === 'closed') closed.inc({ network: entry.network, reason: entry.reason })
  }
}
