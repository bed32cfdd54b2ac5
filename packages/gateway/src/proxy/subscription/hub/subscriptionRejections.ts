import type { Rejection } from '../../../errors/rejection.ts'

/** The rejections of `eth_subscribe`. They have no entry in `rejections`, because HTTP cannot cause them. */
export const subscriptionRejections = {
  /** @param problem - What is wrong with the params, and how to fix it. */
  invalidParams: (problem: string): Rejection => ({
    status: 200,
    code: -32602,
    message: `Invalid params: ${problem}`,
    reason: 'invalid_params',
  }),
  // Not -32005, because clients retry that, and the next attempt has no more room than this one.
  tooManySubscriptions: (maxSubscriptions: number): Rejection => ({
    status: 200,
    code: -32602,
    message: `This connection already has ${maxSubscriptions} subscriptions, the maximum: end some with eth_unsubscribe, or open another connection`,
    reason: 'invalid_params',
    data: { maxSubscriptions },
  }),
  /** @param maxBufferedBytes - How many bytes the subscriptions of one connection may take. */
  filtersTooLarge: (maxBufferedBytes: number): Rejection => ({
    status: 200,
    code: -32602,
    message: `The filters of this connection would take more than ${maxBufferedBytes} bytes of memory, the maximum: use fewer addresses and topics, end some subscriptions with eth_unsubscribe, or open another connection`,
    reason: 'invalid_params',
    data: { maxBufferedBytes },
  }),
  noMemory: (): Rejection => ({
    status: 503,
    code: -32603,
    message:
      'No memory is left for this subscription: end others with eth_unsubscribe, use filters with fewer addresses and topics, or try again later',
    reason: 'upstream_busy',
  }),
  cursorTooOld: (): Rejection => ({
    status: 200,
    code: -32001,
    message:
      'The cursor is too old: none of its blocks is among the newest 128 of the chain, or the service has no memory for the blocks since then. Read what is missing with eth_getLogs or eth_getBlockByNumber, and subscribe with the cursor null',
    reason: 'not_found',
  }),
} as const
