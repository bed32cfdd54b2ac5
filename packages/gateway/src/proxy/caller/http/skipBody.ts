import type { IncomingMessage } from 'node:http'
import type { Rejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { isBodyTooLarge, readBody } from '../../http/readBody.ts'
import { sendRejection } from '../../request/endRequest.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { RequestContext } from '../../request/requestContext.ts'

/**
 * Rejects a whole request for a reason that comes before the size of its body: the response is the same for a body of any size. A body that is too
 * large is not read to its end, and closes the connection.
 */
export const sendRejectionBeforeBody = (
  gateway: GatewayContext,
  request: IncomingMessage,
  context: RequestContext,
  rejection: Rejection,
): void => {
  const { maxBodyBytes } = gateway.limits
  if (rejection.close === true || isBodyTooLarge(request, maxBodyBytes)) {
    sendRejection(gateway, context, { ...rejection, close: true })
    return
  }
  readBody(request, { maxBytes: maxBodyBytes, buffer: false }, (end) => {
    if (end !== 'gone') sendRejection(gateway, context, end === 'tooLarge' ? { ...rejection, close: true } : rejection)
  })
}

/** Reads a body without storing it. One that is too large closes the connection. */
export const skipBody = (
  gateway: GatewayContext,
  request: IncomingMessage,
  context: RequestContext,
  then: () => void,
): void => {
  const { maxBodyBytes } = gateway.limits
  readBody(request, { maxBytes: maxBodyBytes, buffer: false }, (end) => {
    if (end === 'tooLarge') sendRejection(gateway, context, rejections.bodyTooLarge(maxBodyBytes))
    else if (end !== 'gone') then()
  })
}
