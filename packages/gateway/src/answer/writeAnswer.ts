import { corsHeaders } from '../http/cors.ts'
import { lingerMs } from '../http/answerBrokenHttp.ts'
import { refusalText } from '../refusal/refusalText.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Exchange } from './exchange.ts'
import { writeParts } from './writeParts.ts'

/** What is to be written. A body of several parts is written as it is, without joining them first. */
export interface Answer {
  readonly status: number
  readonly body?: string | readonly (string | Buffer)[]
  readonly headers?: readonly string[]
}

/** How an answer is to be written. */
export interface WriteOptions {
  /** Tells the caller that the connection ends here. */
  readonly close: boolean
  /** How long the caller may take nothing of the answer before its connection is cut, in milliseconds. */
  readonly writeTimeoutMs: number
}

/** Writes an answer with the headers that all answers have. */
export const writeAnswer = (exchange: Exchange, answer: Answer, options: WriteOptions): void => {
  if (exchange.gone) return
  const { request, response } = exchange
  const parts = answer.body === undefined || typeof answer.body === 'string' ? undefined : answer.body
  const headers = ['X-Request-Id', exchange.requestId, ...(answer.headers ?? corsHeaders)]
  if (exchange.chainId !== undefined) headers.push('X-Chain-Id', String(exchange.chainId))
  if (options.close) headers.push('Connection', 'close')
  if (answer.body !== undefined) {
    const length =
      parts === undefined
        ? Buffer.byteLength(answer.body as string)
        : parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
    headers.push('Content-Type', 'application/json', 'Content-Length', String(length))
  }
  response.writeHead(answer.status, headers)
  if (options.close && !request.complete) endAfterRest(exchange, answer.body)
  else writeParts(response, parts ?? (answer.body === undefined ? [] : [answer.body as string]), options.writeTimeoutMs)
}

/**
 * Writes the whole answer, but ends it (and with it the connection) only when the caller has stopped sending: to close while
 * bytes arrive resets the connection, and the caller loses the answer that says why.
 */
const endAfterRest = ({ request, response }: Exchange, body: Answer['body']): void => {
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  for (const part of body === undefined ? [] : typeof body === 'string' ? [body] : body) response.write(part)
  request.on('end', end)
  request.on('close', end)
  request.resume()
}

/** Writes a refusal of the whole request. */
export const writeRefusal = (exchange: Exchange, refusal: Refusal, options: WriteOptions): void => {
  exchange.reason ??= refusal.reason
  const body = refusalText(refusal, 'null', exchange.requestId)
  const headers = refusal.headers === undefined ? corsHeaders : [...corsHeaders, ...refusal.headers]
  writeAnswer(exchange, { status: refusal.status, body, headers }, options)
}
