import type { AbiValue } from './abiType.ts'

/** Converts a value to JSON: integers become decimal strings, because JSON numbers above 2^53 would be rounded. */
export function toJsonValue(value: AbiValue): unknown {
  if (typeof value === 'bigint') return value.toString()
  return Array.isArray(value) ? (value as readonly AbiValue[]).map(toJsonValue) : value
}

/** Formats a value for people: text without quotes, lists as JSON. */
export const formatAbiValue = (value: AbiValue): string =>
  typeof value === 'object' ? JSON.stringify(toJsonValue(value)) : String(value)
