import { check } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'

/** Headers that the HTTP clients set themselves, and those that describe the connection or the body. RFC 9110 and RFC 9112. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A token: RFC 9110 section 5.6.2. */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/** Printable ASCII, spaces and tabs: RFC 9110 section 5.5. */
const headerValue = /^[\t\x20-\x7e]+$/

/** Longer names are not shown: they may be a misplaced secret. */
const MAX_SHOWN_LENGTH = 31

/** Shorter values are not masked: they would also hide common words and numbers. */
const MIN_MASKED_LENGTH = 8

/**
 * Checks extra request headers and copies them, with their names in lower case.
 *
 * @param given - The option's value, or what its function returned.
 * @param authorizedBy - What else sets `authorization`; undefined if nothing does.
 * @throws {KeyrailError} kind `invalidRequest`, naming the header. The message does not show a value.
 * @example
 * checkRequestHeaders({ 'X-Team': 'wallet' }, undefined) // { 'x-team': 'wallet' }
 */
export function checkRequestHeaders(given: unknown, authorizedBy: string | undefined): Record<string, string> {
  const isRecord = Object.prototype.toString.call(given) === '[object Object]' && !(Symbol.iterator in Object(given))
  check(isRecord, `headers must be an object such as { 'x-team': 'wallet' }, not ${describeType(given)}.`)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given as object)) {
    const key = name.toLowerCase()
    // An object's `__proto__` member cannot be set by assignment.
    check(
      headerName.test(name) && key !== '__proto__',
      'headers contains a name with characters that HTTP does not allow. Use letters, digits and "-".',
    )
    const shown = name.length > MAX_SHOWN_LENGTH ? '…' : name
    check(!reservedHeaders.has(key), `headers contains "${key}", which the HTTP client sets. Remove it.`)
    check(
      key !== 'authorization' || !authorizedBy,
      `headers contains "authorization", which ${authorizedBy} sets too. Remove one of them.`,
    )
    check(!Object.hasOwn(headers, key), `headers contains "${shown}" twice, in different letter case. Remove one.`)
    check(
      typeof value === 'string' && value.trim(),
      `The header "${shown}" must be a string that is not empty. If it comes from an environment variable, check that it is set.`,
    )
    check(
      headerValue.test(value),
      `The header "${shown}" contains a line break or another character that HTTP does not allow. Copy its value again.`,
    )
    headers[key] = value
  }
  return headers
}

/** The parts of header values to mask wherever a server repeats them: a scheme such as `Bearer` is apart from its token. */
export function findHeaderSecrets(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(headers).flatMap((value) => {
    const parts = value.split(/[\s"\\]+/).filter((part) => part.length >= MIN_MASKED_LENGTH)
    return parts.length > 0 || value.length < MIN_MASKED_LENGTH ? parts : [value]
  })
}
