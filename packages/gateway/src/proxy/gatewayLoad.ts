import type { QueueState } from '../lib/createFairQueue.ts'
import type { BufferKind } from '../lib/memoryBudget.ts'
import type { Network } from '../lib/network.ts'
import type { SavedCounts } from '../usage/traffic/createNodeTraffic.ts'
import type { ConfirmOutcome } from './upstream/confirm/createConfirmations.ts'

/** How busy a gateway is. */
export interface GatewayLoad {
  /** Open connections of callers, WebSockets included. */
  readonly connections: number
  readonly maxConnections: number
  /** Requests and messages of WebSockets in flight. */
  readonly requests: number
  /** The buffers of all requests and connections together. */
  readonly bufferedBytes: number
  readonly bufferedByKind: Readonly<Record<BufferKind, number>>
  /** The buffers of the owner that has the most. */
  readonly largestShareBytes: number
  readonly maxBufferedBytes: number
  /** The calls to each network. */
  readonly queues: readonly (QueueState & { readonly network: Network })[]
  /** How the confirmed reads of each network ended. */
  readonly confirmations: readonly (readonly [Network, Readonly<Record<ConfirmOutcome, number>>])[]
  /** The calls to each network that no node was sent. */
  readonly saved: readonly (readonly [Network, Readonly<Record<keyof SavedCounts, number>>])[]
}
