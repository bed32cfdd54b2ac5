import { hasAmbiguousName } from '../auth/allowList/hasAmbiguousName.ts'
import { createChunks } from '../lib/createChunks.ts'
import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './reply.ts'

/** Longest body, in bytes. */
export const maxControlBody: number = 64 * 1024
/** Longest body of whoever is not logged in, in bytes: a email address, a password and a link. */
export const maxUnknownBody: number = 8 * 1024

/** The bytes of a body, or why there are none: too many, and then no more of it is read; or its sender went away. */
const readBytes = async (
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | 'tooMany' | 'cut'> => {
  if (body === null) return new Uint8Array()
  const pieces = createChunks(Buffer.alloc(0))
  let length = 0
  try {
    // Leaving the loop cancels the stream.
    for await (const part of body) {
      length += part.length
      if (length > maxBytes) return 'tooMany'
      pieces.add(Buffer.from(part.buffer, part.byteOffset, part.length))
    }
  } catch {
    return 'cut'
  }
  return pieces.join()
}

/**
 * Reads a body as JSON.
 * @param maxBytes - What is longer is rejected, and not read on.
 * @returns `{ value }`, `undefined` in it where there was no body; or a rejection.
 */
export const readJsonBody = async (
  request: Request,
  maxBytes: number = maxControlBody,
): Promise<{ value: unknown } | { rejection: ApiError }> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes)
    return { rejection: apiErrors.bodyTooLarge(maxBytes) }
  const bytes = await readBytes(request.body, maxBytes)
  if (bytes === 'tooMany') return { rejection: apiErrors.bodyTooLarge(maxBytes) }
  if (bytes === 'cut') return { rejection: apiErrors.badJson('the body did not arrive whole') }
  if (bytes.length === 0) return { value: undefined }
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') return { rejection: apiErrors.badMediaType() }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (hasAmbiguousName(text))
      return { rejection: apiErrors.badJson('the body names a member twice, or with an escape in its name') }
    return { value }
  } catch {
    return { rejection: apiErrors.badJson('the body is not JSON in UTF-8') }
  }
}
