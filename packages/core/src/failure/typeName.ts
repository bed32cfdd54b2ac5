/**
 * Names the type of a value that is not what it should be. The value itself may be a misplaced secret, so it is not shown.
 *
 * @example
 * typeName([1]) // 'an array'
 */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
