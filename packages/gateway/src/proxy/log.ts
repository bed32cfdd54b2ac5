import type { Network } from '../lib/network.ts'
import type { RejectionReason } from '../errors/rejection.ts'
import type { CloseReason } from './caller/webSocket/closeReasons.ts'
import type { NodeSocketState } from './subscription/node/createNodeSocket.ts'
import type { UpstreamEvent } from './upstream/health/watchHealth.ts'

/** A key lookup, a quota check or a metering update failed, or the server could not listen or accept a connection. */
export interface FaultEntry {
  readonly event: 'fault'
  readonly where: 'keyStore' | 'quota' | 'meter' | 'requestLog' | 'server'
  /** Such as `SQLite 13`, an SQLSTATE, `WRONGPASS` or EMFILE; `other` for errors without a known code. */
  readonly code: string
  /** The same in words, and what to do. */
  readonly cause?: string
  /** How many faults the entry reports: each `where` and `code` is logged at most once a second. */
  readonly count: number
}

/** The nodes did not agree on the result of a confirmed read. */
export interface DisputeEntry {
  readonly event: 'dispute'
  readonly network: Network
  readonly method: string
  /** The block that they were asked about, if the call named it by a tag. */
  readonly block?: number | undefined
  /** `outvoted`: enough nodes agreed, and their response was used. */
  readonly outcome: 'outvoted' | 'disagreed'
  /** The start of each response, with secrets masked, and the nodes that sent it. */
  readonly said: readonly { readonly upstreams: readonly string[]; readonly response: string }[]
  /** How many disputes the entry reports: each `method` and `outcome` is logged at most once a second. */
  readonly count: number
}

/** A log entry of the gateway. It contains no keys, params or upstream URLs. */
export type LogEntry =
  | {
      readonly event: 'listening'
      readonly port: number
      /** The public URL if one is configured, else the listening URL. */
      readonly url: string
    }
  | {
      readonly event: 'request'
      readonly requestId: string
      readonly network?: Network | undefined
      /** The key record's id, if the key is known. */
      readonly keyId?: string | undefined
      /** The method's name if it is allowed, else `other`; `batch` for a batch. */
      readonly method?: string | undefined
      /** The number of calls in it. */
      readonly calls?: number | undefined
      readonly status: number
      /** Why it was rejected; for a batch, why its first rejected call was. */
      readonly reason?: RejectionReason | undefined
      readonly durationMs: number
    }
  | {
      /** The caller left before its response was complete. */
      readonly event: 'disconnected'
      readonly requestId: string
      readonly network?: Network
      readonly keyId?: string
      readonly durationMs: number
    }
  | {
      readonly event: 'webSocket'
      readonly state: 'opened'
      /** Of the request that opened it. The requests on it have this id, a dot and a number. */
      readonly requestId: string
      readonly network: Network
      readonly keyId: string
    }
  | {
      readonly event: 'webSocket'
      readonly state: 'closed'
      readonly requestId: string
      readonly network: Network
      readonly keyId: string
      readonly reason: CloseReason
      /** The close code; 1006 if the connection ended without one. */
      readonly code: number
      /** How many messages with requests it sent. */
      readonly requests: number
      /** How many notifications it got. */
      readonly notifications: number
      readonly durationMs: number
    }
  | {
      readonly event: 'upstream'
      readonly network: Network
      readonly upstream: string
      readonly state: UpstreamEvent
      /** Why it is unreachable or on the wrong chain. */
      readonly reason?: string | undefined
    }
  | {
      /** The WebSocket to a node, which subscriptions use. `lost`: it could not be opened, or broke. It is opened again after a while. */
      readonly event: 'nodeSocket'
      readonly network: Network
      readonly upstream: string
      readonly state: NodeSocketState
    }
  | FaultEntry
  | DisputeEntry
  | {
      /** Something for the operator to look at. `what` also says how to fix it. */
      readonly event: 'warning'
      readonly what: string
    }
  | { readonly event: 'draining' }
  | { readonly event: 'closed'; readonly cutOff: number }
