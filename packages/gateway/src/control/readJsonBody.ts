import { hasAmbiguousName } from '../allow/hasAmbiguousName.ts'
import { controlRefusals } from './controlRefusals.ts'
import type { ControlRefusal } from './reply.ts'

/** Longest body, in bytes. */
export const maxControlBody: number = 64 * 1024

/** The bytes of a body, or why there are none: too many, and then no more of it is read; or its sender went away. */
const readBytes = async (body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | 'tooMany' | 'cut'> => {
  if (body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let length = 0
  try {
    // Leaving the loop cancels the stream.
    for await (const part of body) {
      length += part.length
      if (length > maxControlBody) return 'tooMany'
      parts.push(part)
    }
  } catch {
    return 'cut'
  }
  return Buffer.concat(parts)
}

/**
 * Reads a body as JSON.
 * @returns `{ value }`, `undefined` in it where there was no body; or a refusal.
 */
export const readJsonBody = async (request: Request): Promise<{ value: unknown } | { refusal: ControlRefusal }> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxControlBody)
    return { refusal: controlRefusals.bodyTooLarge(maxControlBody) }
  const bytes = await readBytes(request.body)
  if (bytes === 'tooMany') return { refusal: controlRefusals.bodyTooLarge(maxControlBody) }
  if (bytes === 'cut') return { refusal: controlRefusals.badJson('the body did not arrive whole') }
  if (bytes.length === 0) return { value: undefined }
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') return { refusal: controlRefusals.badMediaType() }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (hasAmbiguousName(text))
      return { refusal: controlRefusals.badJson('the body names a member twice, or with an escape in its name') }
    return { value }
  } catch {
    return { refusal: controlRefusals.badJson('the body is not JSON in UTF-8') }
  }
}
