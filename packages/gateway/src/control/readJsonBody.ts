import { hasAmbiguousName } from '../auth/allowList/hasAmbiguousName.ts'
import { addChunk, joinChunks } from '../lib/chunks.ts'
import type { Chunks } from '../lib/chunks.ts'
import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './apiErrors.ts'

/** Maximum body size, in bytes. */
export const maxControlBody: number = 64 * 1024
/** Maximum body size of anonymous requests, in bytes: enough for an email address, a password and a link. */
export const maxAnonymousBody: number = 8 * 1024

/** Reads a body. `'tooMany'`: it is larger than `maxBytes`, and reading stopped there. `'aborted'`: the client disconnected. */
const readBytes = async (
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | 'tooMany' | 'aborted'> => {
  if (body === null) return new Uint8Array()
  let chunks: Chunks | undefined
  let length = 0
  try {
    // Returning from the loop cancels the stream.
    for await (const chunk of body) {
      length += chunk.length
      if (length > maxBytes) return 'tooMany'
      chunks = addChunk(chunks, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    }
  } catch {
    return 'aborted'
  }
  return joinChunks(chunks)
}

/**
 * Reads a body as JSON.
 * @param maxBytes - A larger body is rejected without reading the rest.
 * @returns `{ value }`, with `undefined` for an empty body, or an error.
 */
export const readJsonBody = async (
  request: Request,
  maxBytes: number = maxControlBody,
): Promise<{ value: unknown } | { error: ApiError }> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return { error: apiErrors.bodyTooLarge(maxBytes) }
  const bytes = await readBytes(request.body, maxBytes)
  if (bytes === 'tooMany') return { error: apiErrors.bodyTooLarge(maxBytes) }
  if (bytes === 'aborted') return { error: apiErrors.badJson('The body is incomplete. Send the request again.') }
  if (bytes.length === 0) return { value: undefined }
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') return { error: apiErrors.badMediaType() }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (hasAmbiguousName(text))
      return {
        error: apiErrors.badJson(
          'The body contains a repeated or escaped member name. Name each member once, without escapes.',
        ),
      }
    return { value }
  } catch {
    return { error: apiErrors.badJson('The body is not valid JSON. Send JSON in UTF-8.') }
  }
}
