import { createHmac } from 'node:crypto'
import { toQuantityId } from '../../../lib/rpc/quantity.ts'
import type { BlockPosition } from '../followedChain.ts'

// A notification has two parts. The first depends on the subscription only. The second depends on the event only, so subscriptions share it.

/** The start of each notification of a subscription. */
export const toNotificationStart = (id: string): string =>
  `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}",`

/** The end of a notification of a header, log, transaction or status. @param text - JSON. */
export const toResultEnd = (text: string): Buffer => Buffer.from(`"result":${text}}}`)

/** The end of a notification that everything up to a block was delivered, and that everything above it is undone. */
export const toPositionEnd = ({ number, hash }: BlockPosition): Buffer =>
  Buffer.from(`"position":{"number":"0x${number.toString(16)}","hash":"${hash}"}}}`)

/**
 * Creates ids of subscriptions. They are the same on different connections if the request and its ordinal on the connection are, so that those
 * connections share frames.
 * @param secret - Of this process: without it, an id does not show what another connection has subscribed to.
 * @returns `0x` and 32 hex digits.
 */
export const createSubscriptionIds =
  (secret: string | Uint8Array, network: string): ((key: string, ordinal: number) => string) =>
  (key, ordinal) =>
    toQuantityId(createHmac('sha256', secret).update(`${network}\n${key}\n${ordinal}`).digest())
