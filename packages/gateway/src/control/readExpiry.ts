import type { FieldProblem } from './apiErrors.ts'

/**
 * Parses an expiry time, which must be in the future.
 * @param given - An ISO 8601 time, `null` for no expiry, or `undefined` for no change.
 * @returns The time in milliseconds since 1970, or the problem.
 */
export const readExpiry = <Given extends string | null | undefined>(
  given: Given,
  now: number,
): { at: (Given extends string ? number : never) | Exclude<Given, string> } | { problem: FieldProblem } => {
  if (typeof given !== 'string') return { at: given as Exclude<Given, string> }
  const at = Date.parse(given)
  return at > now
    ? { at: at as Given extends string ? number : never }
    : { problem: { field: 'expiresAt', fix: 'is in the past: send a time in the future, or null for no expiry' } }
}
