import { announcesTooMuch, readBody } from '../http/readBody.ts'
import type { Refusal } from '../../errors/rejection.ts'
import { refusals } from '../../errors/rejections.ts'
import type { Answering } from './gatewayContext.ts'
import type { Exchange } from './requestContext.ts'
import { logRequest } from './logRequest.ts'
import { meterWhole } from './meterCalls.ts'
import { writeAnswer, writeRefusal } from './writeResponse.ts'
import type { Answer } from './writeResponse.ts'

/** Writes the response and logs it. Before the gateway stops, the last response on a connection closes it. */
export const finishExchange = (answering: Answering, exchange: Exchange, answer: Answer): void => {
  if (exchange.gone) return
  const { writeTimeoutMs } = answering.limits
  writeAnswer(exchange, answer, { close: closes(answering, exchange), writeTimeoutMs, keepTo: answering.keepTo })
  logRequest(answering, exchange, answer.status)
}

const closes = (answering: Answering, exchange: Exchange): boolean =>
  answering.leaving() && answering.connections.isLast(exchange.request)

/** Writes a refusal of the whole request, after what is left of its body: unread, it would be taken for the next request. */
export const refuseExchange = (answering: Answering, exchange: Exchange, refusal: Refusal): void => {
  const write = (ours: Refusal): void => {
    meterWhole(answering, exchange, ours.reason)
    if (exchange.gone) return
    const close = ours.close === true || closes(answering, exchange)
    writeRefusal(exchange, ours, { close, writeTimeoutMs: answering.limits.writeTimeoutMs, keepTo: answering.keepTo })
    logRequest(answering, exchange, ours.status)
  }
  if (refusal.close === true || exchange.request.complete) write(refusal)
  else pastBody(answering, exchange, () => write(refusal))
}

/**
 * Writes a refusal that comes before the size: it is the answer however large the body is. A body that is too large is not read
 * to its end, and ends the connection.
 */
export const refuseBeforeSize = (answering: Answering, exchange: Exchange, refusal: Refusal): void => {
  const { maxBodyBytes } = answering.limits
  if (refusal.close === true || announcesTooMuch(exchange.request, maxBodyBytes)) {
    refuseExchange(answering, exchange, { ...refusal, close: true })
    return
  }
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: false }, (end) => {
    if (end !== 'gone') refuseExchange(answering, exchange, end === 'tooLarge' ? { ...refusal, close: true } : refusal)
  })
}

/** Reads a body only to get past it. One that is too large ends the connection. */
export const pastBody = (answering: Answering, exchange: Exchange, then: () => void): void => {
  const { maxBodyBytes } = answering.limits
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: false }, (end) => {
    if (end === 'tooLarge') refuseExchange(answering, exchange, refusals.bodyTooLarge(maxBodyBytes))
    else if (end !== 'gone') then()
  })
}
