/**
 * The data of an error as text: a string as it is, else compact JSON; '' where it is nested too deep to be written.
 *
 * @param data - What an error came with.
 * @example
 * dataText({ reason: 'key_unknown' }) // '{"reason":"key_unknown"}'
 */
export function dataText(data: unknown): string {
  try {
    return typeof data === 'string' ? data : `${JSON.stringify(data)}`
  } catch {
    return ''
  }
}
