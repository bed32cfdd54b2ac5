/**
 * Writes the data of an error as text: a string unchanged, any other value as compact JSON, or '' if it is nested too deeply.
 *
 * @param data - `error.data` of a JSON-RPC error.
 * @example
 * stringifyData({ reason: 'key_unknown' }) // '{"reason":"key_unknown"}'
 */
export function stringifyData(data: unknown): string {
  try {
    return typeof data === 'string' ? data : `${JSON.stringify(data)}`
  } catch {
    return ''
  }
}
