import type { GaugeSources } from '../src/service/metric.ts'
import { idleMetering } from './idleMetering.ts'

/** What Prometheus reads from a service that does nothing. */
export const idleSources: GaugeSources = {
  upstreams: () => [],
  webSockets: () => ({
    connections: new Map(),
    subscriptions: new Map(),
    notifications: new Map(),
    incompleteBlocks: new Map(),
  }),
  load: () => ({
    connections: 0,
    maxConnections: 1,
    requests: 0,
    bufferedBytes: 0,
    largestShareBytes: 0,
    bufferedByKind: { requests: 0, messages: 0, subscriptions: 0, notifications: 0, chain: 0 },
    maxBufferedBytes: 1,
    queues: [],
    confirmations: [],
    saved: [],
  }),
  keys: () => ({ entries: 0, maxEntries: 2, hits: 0, misses: 0 }),
  limits: () => ({
    decisions: { granted: 0, rate: 0, day: 0, month: 0, unavailable: 0 },
    waits: { counts: [], sum: 0 },
    waiting: 0,
  }),
  stores: () => ({ stores: [], pool: undefined, redisPending: undefined }),
  metering: () => idleMetering,
  droppedRequests: () => ({ keyLimit: 0, limit: 0, buffer: 0, mask: 0, storage: 0 }),
}
