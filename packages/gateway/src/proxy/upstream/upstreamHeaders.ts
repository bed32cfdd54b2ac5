/** Request headers for one node, such as its authorization. A secret. */
export type UpstreamHeaders = Readonly<Record<string, string>>

/** RFC 9110 section 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** RFC 9110 section 5.5, without the obsolete bytes above ASCII. */
const fieldValue = /^[\t\x20-\x7e]{1,8192}$/

/** Headers that frame the request, or that the gateway sets itself. It does not decompress what nodes send. */
const reservedNames: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Finds what is wrong with the names of headers for a node.
 * @returns What is wrong and how to fix it, for a message after the option's name; `undefined` if nothing is. It repeats no text that is not the
 * name of a header, because names and values may be mixed up.
 */
export const findHeaderNameFault = (names: readonly string[]): string | undefined => {
  const seen = new Set<string>()
  for (const name of names) {
    if (!token.test(name)) return 'has a name that is not the name of an HTTP header: use one such as "x-api-key"'
    const lower = name.toLowerCase()
    if (reservedNames.has(lower)) return `must not have "${lower}", which the gateway sets itself: remove it`
    if (seen.has(lower)) return 'has a name twice, in different letter case: remove one'
    seen.add(lower)
  }
  return undefined
}

/** What the value of a header must be, for a message after the option's name. */
export const headerValueFix = 'must be 1 to 8192 printable ASCII characters, without line breaks'

/** Whether a text can be the value of a header. */
export const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && fieldValue.test(value) && value.trim() === value

/**
 * Gets the secret parts of headers, to hide them in logs and in errors of the node: each value, its words (the token after `Bearer`), and the user
 * and password of `Basic`.
 */
export const getHeaderSecrets = (headers: UpstreamHeaders): readonly string[] =>
  Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/), ...getBasicCredentials(value)])

const getBasicCredentials = (value: string): readonly string[] => {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(value) ?? []
  if (encoded === undefined) return []
  const credentials = Buffer.from(encoded, 'base64').toString()
  return [credentials, ...credentials.split(':')]
}
