import type * as PromClient from 'prom-client'
import type { GatewayLoad } from '../proxy/gatewayLoad.ts'
import { registerMetric } from './registerMetric.ts'

/** One gauge of the whole instance. */
const gauges: readonly (readonly [name: string, help: string, value: (load: GatewayLoad) => number])[] = [
  ['http_connections', 'Open connections of callers, WebSockets included.', ({ connections }) => connections],
  ['http_max_connections', 'The bound maxConnections of the config.', ({ maxConnections }) => maxConnections],
  ['http_requests_in_flight', 'Requests and WebSocket messages without a response yet.', ({ requests }) => requests],
  [
    'buffered_bytes',
    "Bytes that requests, WebSockets, subscriptions and the service's own reads hold in memory.",
    ({ bufferedBytes }) => bufferedBytes,
  ],
  [
    'buffered_bytes_largest_owner',
    'The part of keyrail_buffered_bytes that belongs to the keys of one owner: that of the owner with the most.',
    ({ largestShareBytes }) => largestShareBytes,
  ],
  ['max_buffered_bytes', 'The bound maxBufferedBytes of the config.', ({ maxBufferedBytes }) => maxBufferedBytes],
]

/** Registers the metrics of connections and of calls that wait, which are read at each scrape. */
export const registerServer = (read: () => GatewayLoad, registers: readonly PromClient.Registry[]): void => {
  for (const [name, help, value] of gauges)
    registerMetric(registers, {
      name: `keyrail_${name}`,
      help,
      type: 'gauge',
      samples: () => [{ value: value(read()) }],
    })
  registerMetric(registers, {
    name: 'keyrail_buffered_bytes_by_kind',
    help: 'The parts of keyrail_buffered_bytes, by what they are for.',
    type: 'gauge',
    samples: () => Object.entries(read().bufferedByKind).map(([kind, value]) => ({ labels: { kind }, value })),
  })
  registerMetric(registers, {
    name: 'keyrail_calls_queued',
    help: 'Calls that wait for a slot of their network, because their key or its owner has too many in flight.',
    type: 'gauge',
    samples: () => read().queues.map(({ network, queued }) => ({ labels: { network }, value: queued })),
  })
  registerMetric(registers, {
    name: 'keyrail_call_slots_used',
    help: 'Slots of a network that calls in flight use. There are 128.',
    type: 'gauge',
    samples: () => read().queues.map(({ network, active }) => ({ labels: { network }, value: active })),
  })
}
