import type { RejectionReason } from '../../../errors/rejection.ts'
import type { SubscriptionFault } from '../../subscription/subscriptionHub.ts'

/**
 * Why a WebSocket closed, for its log entry and metrics. `client`: the caller closed it, or its network was lost. `slow_reader`: it was too far
 * behind with reading its notifications. `no_pong`: it did not respond to a ping. `protocol_error`: it sent what is no WebSocket frame.
 * `restart`: the service stops, or the network's chain was changed. Others are those of rejections and subscriptions.
 */
export type CloseReason =
  | 'client'
  | 'slow_reader'
  | 'no_pong'
  | 'protocol_error'
  | 'message_too_big'
  | 'restart'
  | 'too_many_notifications'
  | 'reorg_too_deep'
  | RejectionReason

/** The close codes that the gateway sends. Source: RFC 6455 section 7.4.1, and the IANA registry of close codes. */
export const closeCodes = {
  /** The caller may not go on: the key, the token or the settings of the app do not allow it any more. */
  policy: 1008,
  /** A message is too big. The WebSocket library uses it too. */
  tooBig: 1009,
  /** The subscriptions cannot be continued. */
  internal: 1011,
  /** The caller should connect again, and will reach another instance. web3.js does not after 1000 and 1001. */
  restart: 1012,
  /** The caller's key cannot be checked now. */
  tryLater: 1013,
} as const

/** How a connection is closed whose subscriptions cannot be continued. */
export const faultCloses: Readonly<Record<SubscriptionFault, { readonly code: number; readonly reason: CloseReason }>> =
  {
    tooManyNotifications: { code: closeCodes.policy, reason: 'too_many_notifications' },
    reorgTooDeep: { code: closeCodes.internal, reason: 'reorg_too_deep' },
    nodeUnavailable: { code: closeCodes.internal, reason: 'no_upstream' },
  }
