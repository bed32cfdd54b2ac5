import type { IncomingMessage, ServerResponse } from 'node:http'
import { holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import { chooseEncoding } from '../../http/chooseEncoding.ts'
import type { Encoding } from '../../http/chooseEncoding.ts'
import {
  compress,
  compressedAtOnceUpTo,
  compressorBytes,
  createCompressor,
  minCompressedBytes,
} from '../../http/compress.ts'
import { corsHeaders } from '../../http/cors.ts'
import { closeGraceMs } from '../../http/rejectBrokenHttp.ts'
import { blockHeader } from '../../http/blockHeader.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { RequestContext } from '../../request/requestContext.ts'
import { getByteLength } from '../../request/responseParts.ts'
import type { BodyPart, ResponseContent } from '../../request/responseParts.ts'
import { endWithin, writeParts } from './writeParts.ts'

/** An HTTP request and its response. */
export interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Writes a response with the headers that all responses have. */
export const writeResponse = (
  gateway: GatewayContext,
  { request, response }: HttpExchange,
  context: RequestContext,
  content: ResponseContent,
): void => {
  if (context.gone) return
  const { connections, leaving, strictTransportSecurity } = gateway.server
  const { facts } = context
  const parts = typeof content.body === 'string' ? [content.body] : (content.body ?? [])
  const headers = ['X-Request-Id', context.requestId, ...(content.corsHeaders ?? corsHeaders)]
  if (content.headers !== undefined) headers.push(...content.headers)
  if (facts.limitHeaders !== undefined) headers.push(...facts.limitHeaders)
  if (facts.chainId !== undefined) headers.push('X-Chain-Id', String(facts.chainId))
  if (facts.block !== undefined) headers.push(blockHeader, String(facts.block))
  // Before the gateway stops, the last response on a connection closes it.
  const close = content.close === true || (leaving() && connections.isLast(request))
  if (close) headers.push('Connection', 'close')
  if (strictTransportSecurity !== undefined) headers.push('Strict-Transport-Security', strictTransportSecurity)
  const text = joinShort(parts)
  const bytes = text === undefined ? getByteLength(parts) : text.length
  if (content.body !== undefined) headers.push('Content-Type', 'application/json')
  const isCutShort = close && !request.complete
  const mayCompress = gateway.config.compression && !isCutShort && (bytes === undefined || bytes >= minCompressedBytes)
  const encoding = mayCompress ? negotiateEncoding(request, context.buffered, { bytes, headers }) : undefined
  const compressed =
    encoding !== undefined && text !== undefined && text.length <= compressedAtOnceUpTo
      ? compress(Buffer.from(text, 'latin1'), encoding)
      : undefined
  const length = encoding === undefined ? bytes : compressed?.length
  // Without a length, which a streamed result does not have, Node sends the body in chunks.
  if (content.body !== undefined && length !== undefined) headers.push('Content-Length', String(length))
  response.writeHead(content.status, headers)
  const timeoutMs = gateway.limits.writeTimeoutMs
  if (isCutShort) endAfterRequest(request, response, parts)
  else if (compressed !== undefined) endWithin(response, compressed, timeoutMs)
  else if (encoding !== undefined) writeParts(response, parts, { timeoutMs, compressor: createCompressor(encoding) })
  else if (text !== undefined) endWithin(response, text, timeoutMs)
  else writeParts(response, parts, { timeoutMs })
}

/**
 * Chooses how to compress a response, and adds the headers for it. HTTP/1.0 callers get none, because a body in chunks has no end for them, and
 * neither do callers for whose compressor there is no memory.
 *
 * Compression reveals the length of what repeats in a body (BREACH). Only responses of nodes and rejections come here. They contain nothing but
 * public chain data and what the caller itself sent. The control API, whose responses contain keys, is not compressed.
 */
const negotiateEncoding = (
  request: IncomingMessage,
  buffered: BufferedBytes,
  { bytes, headers }: { bytes: number | undefined; headers: string[] },
): Encoding | undefined => {
  headers.push('Vary', 'Accept-Encoding')
  if (request.httpVersionMinor === 0) return undefined
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  if (encoding === undefined) return undefined
  const usesCompressor = bytes === undefined || bytes > compressedAtOnceUpTo
  if (usesCompressor && !holdBytes(buffered, compressorBytes)) return undefined
  headers.push('Content-Encoding', encoding)
  return encoding
}

/** A response up to this size is written in one go, header and body, because many small writes cost more than the copy. */
const joinedUpTo = 256 * 1024

/** A short body as one text with one character per byte, which Node joins with the header without a copy; `undefined` for any other body. */
const joinShort = (parts: readonly BodyPart[]): string | undefined => {
  if (parts.every((part) => typeof part === 'string')) {
    const text = parts.length === 1 ? (parts[0] ?? '') : parts.join('')
    return text.length > joinedUpTo ? undefined : toBytesText(text)
  }
  const bytes = getByteLength(parts)
  if (bytes === undefined || bytes > joinedUpTo) return undefined
  const texts: string[] = []
  for (const part of parts) {
    if (typeof part === 'string') texts.push(toBytesText(part))
    else if (!('start' in part)) texts.push(part.toString('latin1'))
  }
  return texts.join('')
}

const toBytesText = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')

/**
 * Writes the whole response, but ends it, and with it the connection, only when the caller has stopped sending. Closing while bytes arrive resets
 * the connection, and the caller loses the response that says why.
 */
const endAfterRequest = (request: IncomingMessage, response: ServerResponse, parts: readonly BodyPart[]): void => {
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, closeGraceMs)
  for (const part of parts) if (typeof part === 'string' || !('start' in part)) response.write(part)
  request.on('end', end)
  request.on('close', end)
  request.resume()
}
