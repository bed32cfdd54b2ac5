import { createMask } from '../lib/secrets/createMask.ts'
import { secretShapes } from '../lib/secrets/secretShapes.ts'

/**
 * Hides secrets in a text.
 * @param kind - `routine` for text without foreign content, such as request log lines: only whole secrets in common encodings are hidden, which
 *   takes a tenth of the time. @default any 8 consecutive characters of a secret, in any encoding that `createMask` knows
 */
export type Redact = (text: string, kind?: 'routine') => string

/** Replaces a secret. */
const mask = '[secret]'

const minLength = 6

/** Common encodings of a secret. */
const toEncodings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
]

/**
 * Creates a function that hides secrets in logs. It is the last line of defence: no text should contain a secret at this point.
 * @param secrets - The known secrets. Those with fewer than 6 characters are ignored, because hiding them would hide common words. A URL is
 *   only hidden as a whole, so pass its secret parts too.
 * @example
 * createRedact(['hunter22'])('the password is hunter22') // 'the password is [secret]'
 */
export const createRedact = (secrets: readonly string[]): Redact => {
  const known = [...new Set(secrets.filter(({ length }) => length >= minLength).flatMap(toEncodings))].toSorted(
    (one, other) => other.length - one.length,
  )
  // One pass over the text for all secrets. The longest first, because one can be the prefix of another.
  const any = new RegExp([...known.map(escapePattern), ...secretShapes.map(({ source }) => source)].join('|'), 'g')
  const long = secrets.filter(({ length }) => length >= minLength)
  const hideRuns = createMask(
    long.filter((secret) => !isUrl(secret)),
    long.filter(isUrl),
  )
  return (text, kind) => {
    const routine = text.replace(any, mask)
    return kind === 'routine' ? routine : hideRuns(routine, mask)
  }
}

/** URLs are excluded from the search for parts, because parts such as `https://` are common. */
const isUrl = (text: string): boolean => (URL.parse(text)?.host ?? '') !== ''

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
