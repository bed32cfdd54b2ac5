import { reservedHeaders } from '@keyrail/core/internal'

/** RFC 9110 section 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** RFC 9110 section 5.5, without the obsolete bytes above ASCII. */
const fieldValue = /^[\t\x20-\x7e]{1,8192}$/

/** Headers that frame the request, or that the gateway sets itself. It does not decompress what nodes send. */
const setByGateway: ReadonlySet<string> = new Set([...reservedHeaders, 'accept', 'proxy-connection'])

/** Whether a text can be the value of a header. */
export const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && fieldValue.test(value) && value.trim() === value

/**
 * Finds what is wrong with the headers for a node.
 * @param isValue - Checks a value. @default it must be a text that a header can have
 * @returns What is wrong and how to fix it, for a message after the option's name; `undefined` if nothing is. It repeats no value, and no name that
 * does not look like one, because they may be mixed up.
 */
export const findHeadersFault = (
  headers: Readonly<Record<string, unknown>>,
  isValue: (value: unknown) => boolean = isHeaderValue,
): string | undefined => {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!token.test(name)) return 'has a name that is not the name of an HTTP header: use one such as "x-api-key"'
    if (setByGateway.has(lower)) return `must not have "${lower}", which the gateway sets itself: remove it`
    if (seen.has(lower)) return `has ${showName(lower)} twice, in different letter case: remove one`
    if (!isValue(value))
      return `has a wrong value for ${showName(name)}: use 1 to 8192 printable ASCII characters, without line breaks and spaces around them`
    seen.add(lower)
  }
  return undefined
}

const showName = (name: string): string => (/^[A-Za-z-]{1,40}$/.test(name) ? `"${name}"` : 'a header (name hidden)')

/** In a value of several words, a shorter word is the scheme, such as `Bearer`. */
const minWordLength = 8

/**
 * Gets the secret parts of headers, to hide them in logs and in errors of the node: each value, or the long ones of its words, such as the token
 * after `Bearer`; and the user and password of `Basic`.
 */
export const getHeaderSecrets = (headers: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.values(headers)
    .filter((value) => typeof value === 'string')
    .flatMap((value) => [...getSecretWords(value), ...getBasicCredentials(value)])

const getSecretWords = (value: string): readonly string[] => {
  const words = value.split(/\s+/)
  return words.length === 1 ? words : words.filter(({ length }) => length >= minWordLength)
}

const getBasicCredentials = (value: string): readonly string[] => {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(value) ?? []
  if (encoded === undefined) return []
  const credentials = Buffer.from(encoded, 'base64').toString()
  return [credentials, ...credentials.split(':')]
}
