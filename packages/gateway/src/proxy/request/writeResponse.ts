import { corsHeaders } from '../http/cors.ts'
import { lingerMs } from '../http/rejectBrokenHttp.ts'
import { formatRejection } from '../../errors/rejection.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { RequestContext } from './requestContext.ts'
import type { BodyPart } from './responseParts.ts'
import { bytesOf, endOrCut, writeParts } from './writeParts.ts'

/** What is to be written. */
export interface Answer {
  readonly status: number
  readonly body?: string | readonly BodyPart[]
  readonly headers?: readonly string[]
}

/** How an answer is to be written. */
export interface WriteOptions {
  /** Tells the caller that the connection ends here. */
  readonly close: boolean
  /** How long the caller may take nothing of the answer before its connection is cut, in milliseconds. */
  readonly writeTimeoutMs: number
  /** The value of `Strict-Transport-Security`, where browsers are to keep to https. */
  readonly strictTransportSecurity: string | undefined
}

/** Writes an answer with the headers that all answers have. */
export const writeResponse = (context: RequestContext, answer: Answer, options: WriteOptions): void => {
  if (context.gone) return
  const { request, response } = context
  const parts = typeof answer.body === 'string' ? [answer.body] : (answer.body ?? [])
  const headers = ['X-Request-Id', context.requestId, ...(answer.headers ?? corsHeaders)]
  if (context.limitHeaders !== undefined) headers.push(...context.limitHeaders)
  if (context.chainId !== undefined) headers.push('X-Chain-Id', String(context.chainId))
  if (options.close) headers.push('Connection', 'close')
  if (options.strictTransportSecurity !== undefined)
    headers.push('Strict-Transport-Security', options.strictTransportSecurity)
  const text = textOf(parts)
  const bytes = text === undefined ? bytesOf(parts) : text.length
  if (answer.body !== undefined) headers.push('Content-Type', 'application/json')
  // Of what is on its way the length is not known: HTTP sends it in chunks.
  if (answer.body !== undefined && bytes !== undefined) headers.push('Content-Length', String(bytes))
  response.writeHead(answer.status, headers)
  if (options.close && !request.complete) endAfterRest(context, parts)
  else if (text !== undefined) endOrCut(response, text, options.writeTimeoutMs)
  else writeParts(response, parts, { timeoutMs: options.writeTimeoutMs })
}

/** An answer up to this size is written in one go, head and body: many small writes cost more than the copy. */
const joinedUpTo = 256 * 1024

/** A short body as one text with a character for each byte, which Node joins with the head without a copy. */
const textOf = (parts: readonly BodyPart[]): string | undefined => {
  if (parts.every((part) => typeof part === 'string')) {
    const text = parts.length === 1 ? (parts[0] ?? '') : parts.join('')
    if (text.length > joinedUpTo) return undefined
    return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
  }
  const bytes = bytesOf(parts)
  if (bytes === undefined || bytes > joinedUpTo) return undefined
  const pieces: string[] = []
  for (const part of parts) {
    if (typeof part === 'string')
      pieces.push(Buffer.byteLength(part) === part.length ? part : Buffer.from(part).toString('latin1'))
    else if (!('start' in part)) pieces.push(part.toString('latin1'))
  }
  return pieces.join('')
}

/**
 * Writes the whole answer, but ends it (and with it the connection) only when the caller has stopped sending: to close while
 * bytes arrive resets the connection, and the caller loses the answer that says why.
 */
const endAfterRest = ({ request, response }: RequestContext, parts: readonly BodyPart[]): void => {
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  for (const part of parts) if (typeof part === 'string' || !('start' in part)) response.write(part)
  request.on('end', end)
  request.on('close', end)
  request.resume()
}

/** Writes a rejection of the whole request. */
export const writeRejection = (context: RequestContext, rejection: Rejection, options: WriteOptions): void => {
  context.reason ??= rejection.reason
  const body = formatRejection(rejection, 'null', context.requestId)
  const headers = rejection.headers === undefined ? corsHeaders : [...corsHeaders, ...rejection.headers]
  writeResponse(context, { status: rejection.status, body, headers }, options)
}
