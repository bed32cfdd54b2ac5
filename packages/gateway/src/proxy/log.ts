import type { Network } from '../lib/network.ts'
import type { RejectionReason } from '../errors/rejection.ts'
import type { HealthState } from './upstream/watchHealth.ts'

/** A key could not be looked up, a limit asked, a call counted, or the server could not listen or take a connection. */
export interface FaultEntry {
  readonly event: 'fault'
  readonly where: 'keyStore' | 'quota' | 'meter' | 'server'
  /** Such as `SQLite 13` (the disk is full), an SQLSTATE, or EMFILE; `other` for errors without a known code. */
  readonly code: string
  /** How many faults the entry reports: each `where` and `code` is logged at most once a second. */
  readonly count: number
}

/** What the gateway tells of its work. Holds no key, no params and no upstream's address. */
export type LogEntry =
  | {
      readonly event: 'listening'
      readonly port: number
      /** Where callers reach it: the public URL where one is given. */
      readonly url: string
    }
  | {
      readonly event: 'request'
      readonly requestId: string
      readonly network?: Network | undefined
      /** The key record's id, where the key is known. */
      readonly keyId?: string | undefined
      /** The method's name where it is one that is offered, else `other`; `batch` for a batch. */
      readonly method?: string | undefined
      /** How many calls it held. */
      readonly calls?: number | undefined
      readonly status: number
      /** Why it was rejected; of a batch, the first item's that was. */
      readonly reason?: RejectionReason | undefined
      readonly durationMs: number
    }
  | {
      /** The caller went away before its answer was ready. */
      readonly event: 'disconnected'
      readonly requestId: string
      readonly network?: Network
      readonly keyId?: string
      readonly durationMs: number
    }
  | {
      readonly event: 'upstream'
      readonly network: Network
      readonly upstream: string
      readonly state: HealthState
    }
  | FaultEntry
  | {
      /** Something that the operator should look at. `what` also says how to fix it. */
      readonly event: 'warning'
      readonly what: string
    }
  | { readonly event: 'draining' }
  | { readonly event: 'closed'; readonly cutOff: number }
