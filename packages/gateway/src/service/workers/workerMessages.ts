import type { LeaseReply, LeaseRequest } from '../../usage/rateLimit/rateLease.ts'
import type { MetricValues } from '../prometheus.ts'
import type { CloseOptions, Listening } from '../service.ts'

/** A message of a worker to the primary process. */
export type ToPrimary =
  /** It serves. */
  | { readonly type: 'ready'; readonly listening: Listening }
  | { readonly type: 'leases'; readonly requests: readonly LeaseRequest[] }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricValues[] }
  /** The config has changed in a way that only applies after a restart. */
  | { readonly type: 'restart' }
  /** It has stopped, with its last metrics. */
  | { readonly type: 'closed'; readonly metrics: readonly MetricValues[] }

/** A message of the primary process to a worker. */
export type ToWorker =
  | { readonly type: 'leases'; readonly replies: readonly LeaseReply[] }
  | { readonly type: 'metrics'; readonly id: number }
  | { readonly type: 'reload' }
  | { readonly type: 'stop'; readonly options: CloseOptions }
  | { readonly type: 'skipDrainDelay' }

/** The environment variable of a worker: its number and how many there are, such as `2/4`. */
export const workerVariable = 'KEYRAIL_WORKER'
