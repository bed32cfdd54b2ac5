import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './apiErrors.ts'

/** The error for a cursor that no page returned. */
export const invalidCursor = (): ApiError =>
  apiErrors.invalid([{ field: 'cursor', fix: 'must be the "next" of another page' }])

/** Encodes the position where a page ended as an opaque string. */
export const toCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/**
 * Decodes a cursor.
 * @param shape - The expected type of each part.
 * @returns The parts, or `undefined` if `toCursor` did not create the text.
 */
export const fromCursor = (
  text: string,
  shape: readonly ('string' | 'number')[],
): readonly (string | number)[] | undefined => {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(parts) || parts.length !== shape.length) return undefined
    const fits = parts.every(
      (part, index) =>
        typeof part === shape[index] &&
        (typeof part === 'string' ? !/\p{Cc}|\p{Cs}/u.test(part) : Number.isSafeInteger(part)),
    )
    return fits ? (parts as (string | number)[]) : undefined
  } catch {
    return undefined
  }
}
