import type { FieldProblem } from './reply.ts'

/**
 * Reads when something is to end.
 * @param given - A time, `null` for never, or `undefined` where it stays as it was.
 * @returns It in milliseconds; or what is wrong with it.
 */
export const readExpiry = <Given extends string | null | undefined>(
  given: Given,
  now: number,
): { at: (Given extends string ? number : never) | Exclude<Given, string> } | { problem: FieldProblem } => {
  if (typeof given !== 'string') return { at: given as Exclude<Given, string> }
  const at = Date.parse(given)
  return at > now
    ? { at: at as Given extends string ? number : never }
    : { problem: { field: 'expiresAt', fix: 'is over: give a time to come, or null for never' } }
}
