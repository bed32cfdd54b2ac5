import type { IncomingMessage } from 'node:http'
import { rejections } from '../../../errors/rejections.ts'
import { holdBytes } from '../../../lib/memoryBudget.ts'
import { readBody } from '../../http/readBody.ts'
import { smallBody } from '../../request/createBodyQueue.ts'
import { sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import { handleBody, rejectBody } from '../../request/handleBody.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import { findUsedUp } from '../../request/withLimits.ts'
import { sendRejectionBeforeBody } from './skipBody.ts'

/**
 * Reads the body of an authorized request and handles the call or the batch in it. If the rate is known to be used up, a large body is neither
 * stored nor parsed. A small one is, because that is cheap and then each call gets a response with its own id.
 */
export const receiveBody = (gateway: GatewayContext, request: IncomingMessage, authorized: AuthorizedRequest): void => {
  const { context, tenant } = authorized
  const { maxBodyBytes } = gateway.limits
  const usedUp = isSmall(request) ? undefined : findUsedUp(gateway, authorized)
  if (usedUp !== undefined) {
    if (request.complete) sendRejection(gateway, context, usedUp)
    else sendRejectionBeforeBody(gateway, request, context, usedUp)
    return
  }
  context.buffered.share = tenant.share
  const room = (bytes: number): boolean => holdBytes(context.buffered, bytes)
  readBody(request, { maxBytes: maxBodyBytes, buffer: true, room }, (end) => {
    if (end === 'gone' || context.gone) return
    if (end === 'tooLarge') rejectBody(gateway, authorized, rejections.bodyTooLarge(maxBodyBytes))
    else if (end === 'noRoom') sendRejection(gateway, context, { ...rejections.upstreamBusy(), close: true })
    else handleBody(gateway, authorized, end)
  })
}

/** Whether a request announces a small body. */
const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length'] ?? Infinity) <= smallBody
