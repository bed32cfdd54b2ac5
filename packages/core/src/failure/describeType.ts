/**
 * Describes the type of a value of the wrong type, for an error message. The value itself may be a misplaced secret, so it is not shown.
 *
 * @example
 * describeType([1]) // 'an array'
 */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
