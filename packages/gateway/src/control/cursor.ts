import { apiErrors } from './apiErrors.ts'
import type { ApiError } from './reply.ts'

/** The rejection of a cursor that no page gave. */
export const badCursor = (): ApiError =>
  apiErrors.invalid([{ field: 'cursor', fix: 'must be the next of another page' }])

/** Where a page ended, as a text without meaning to others. */
export const toCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/**
 * Reads what `toCursor` wrote.
 * @param shape - What each part must be.
 * @returns Its parts, or `undefined` where it is another text.
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
