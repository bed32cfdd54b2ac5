import { isBodyTooLarge, readBody } from '../http/readBody.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'
import { logRequest } from './logRequest.ts'
import { meterWhole } from './meterCalls.ts'
import { writeResponse, writeRejection } from './writeResponse.ts'
import type { Answer } from './writeResponse.ts'

/** Writes the response and logs it. Before the gateway stops, the last response on a connection closes it. */
export const endRequest = (gateway: GatewayContext, context: RequestContext, answer: Answer): void => {
  if (context.gone) return
  const { writeTimeoutMs } = gateway.limits
  writeResponse(context, answer, {
    close: closes(gateway, context),
    writeTimeoutMs,
    strictTransportSecurity: gateway.strictTransportSecurity,
  })
  logRequest(gateway, context, answer.status)
}

const closes = (gateway: GatewayContext, context: RequestContext): boolean =>
  gateway.leaving() && gateway.connections.isLast(context.request)

/** Writes a rejection of the whole request, after what is left of its body: unread, it would be taken for the next request. */
export const sendRejection = (gateway: GatewayContext, context: RequestContext, rejection: Rejection): void => {
  const write = (ours: Rejection): void => {
    meterWhole(gateway, context, ours.reason)
    if (context.gone) return
    const close = ours.close === true || closes(gateway, context)
    writeRejection(context, ours, {
      close,
      writeTimeoutMs: gateway.limits.writeTimeoutMs,
      strictTransportSecurity: gateway.strictTransportSecurity,
    })
    logRequest(gateway, context, ours.status)
  }
  if (rejection.close === true || context.request.complete) write(rejection)
  else pastBody(gateway, context, () => write(rejection))
}

/**
 * Writes a rejection that comes before the size: it is the answer however large the body is. A body that is too large is not read
 * to its end, and ends the connection.
 */
export const sendRejectionBeforeBody = (
  gateway: GatewayContext,
  context: RequestContext,
  rejection: Rejection,
): void => {
  const { maxBodyBytes } = gateway.limits
  if (rejection.close === true || isBodyTooLarge(context.request, maxBodyBytes)) {
    sendRejection(gateway, context, { ...rejection, close: true })
    return
  }
  readBody(context.request, { maxBytes: maxBodyBytes, keep: false }, (end) => {
    if (end !== 'gone') sendRejection(gateway, context, end === 'tooLarge' ? { ...rejection, close: true } : rejection)
  })
}

/** Reads a body only to get past it. One that is too large ends the connection. */
export const pastBody = (gateway: GatewayContext, context: RequestContext, then: () => void): void => {
  const { maxBodyBytes } = gateway.limits
  readBody(context.request, { maxBytes: maxBodyBytes, keep: false }, (end) => {
    if (end === 'tooLarge') sendRejection(gateway, context, rejections.bodyTooLarge(maxBodyBytes))
    else if (end !== 'gone') then()
  })
}
