import { hasAmbiguousName } from '../allow/hasAmbiguousName.ts'
import { controlRefusals } from './controlRefusals.ts'
import type { ControlRefusal } from './reply.ts'

/** Longest body, in bytes. */
export const maxControlBody: number = 64 * 1024

/** The bytes of a body, or `undefined` where there are too many: then no more of it is read. */
const readBytes = async (body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> => {
  if (body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the stream.
  for await (const part of body) {
    length += part.length
    if (length > maxControlBody) return undefined
    parts.push(part)
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
  if (bytes === undefined) return { refusal: controlRefusals.bodyTooLarge(maxControlBody) }
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
