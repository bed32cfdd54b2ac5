import type { CustomFetch } from 'openid-client'
import { addChunk, joinChunks } from '../lib/chunks.ts'
import type { Chunks } from '../lib/chunks.ts'

/** Far above the size of any metadata, key set or token. */
const maxBytes = 1024 * 1024

/**
 * `fetch` with a bound on the size of the response, which it buffers.
 * @throws {TypeError} if the response is larger than 1 MiB.
 */
export const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit)
  let chunks: Chunks | undefined
  let length = 0
  // Returning from the loop cancels the stream.
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new TypeError('a response of the OpenID Connect provider is larger than 1 MiB')
    chunks = addChunk(chunks, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
  }
  const { status, statusText, headers } = response
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : new Uint8Array(joinChunks(chunks)), { status, statusText, headers })
}
