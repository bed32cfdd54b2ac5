import { createMask } from '../proxy/upstream/createMask.ts'

/**
 * Hides secrets in a text that is about to leave the process.
 * @param kind - `routine` for lines that have no text of anyone else in them, such as those of requests: secrets are then searched only whole
 *   and in common spellings, which takes a tenth of the time. @default every run of 8 characters, in any encoding that `createMask` knows
 */
export type Redact = (text: string, kind?: 'routine') => string

/** What stands for a secret. */
const mask = '[secret]'

const shapes: readonly RegExp[] = [
  // Keys of callers and tokens of scripts, also where they are part of a path.
  /kr[a-z]?_[0-9A-Za-z]{20,}/,
  // JSON Web Tokens.
  /eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/,
  // PEM of any kind, also with its line ends escaped.
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/,
  // Hashes of passwords.
  /\$argon2id\$[\w$=,+/.-]+/,
  // User and password of a URL.
  /(?<=:\/\/)[^\s/@"]+@/,
]

const shortest = 6

/** How a secret may be spelled where somebody wrote it into another text. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
]

/**
 * Makes what hides secrets in logs: the last line of defence, as nothing should hold one by then.
 * @param secrets - Texts that are known to be secret; those shorter than 6 characters would hide common words and are left out. A URL is hidden
 *   only whole, so the parts of it that are secret are given too.
 * @example
 * createRedact(['hunter22'])('the password is hunter22') // 'the password is [secret]'
 */
export const createRedact = (secrets: readonly string[]): Redact => {
  const known = [...new Set(secrets.filter(({ length }) => length >= shortest).flatMap(spellings))].toSorted(
    (one, other) => other.length - one.length,
  )
  // One pass over a text, however many secrets there are. The longest first, as one may be the beginning of another.
  const any = new RegExp([...known.map(escaped), ...shapes.map(({ source }) => source)].join('|'), 'g')
  const long = secrets.filter(({ length }) => length >= shortest)
  const hideRuns = createMask(
    long.filter((secret) => !isUrl(secret)),
    long.filter(isUrl),
  )
  return (text, kind) => {
    const routine = text.replace(any, mask)
    return kind === 'routine' ? routine : hideRuns(routine, mask)
  }
}

/** Parts of a URL are common words, such as `https://`. Those that are secret are given besides. */
const isUrl = (text: string): boolean => (URL.parse(text)?.host ?? '') !== ''

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
