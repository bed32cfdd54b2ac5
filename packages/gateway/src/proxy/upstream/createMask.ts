/** Replaces secrets in a text by `shown`. */
export type Mask = (text: string, shown: string) => string

/**
 * Makes a function that hides secrets in JSON before somebody sees it. It takes time in proportion to the text.
 *
 * It hides each run of 8 or more characters of a secret, in any letter case:
 * - as it is, and with other characters between its letters and digits (spaces, dashes, quotes);
 * - in hex, base64 and base64url, also as part of a longer text that is encoded;
 * - behind JSON escapes, percent escapes and HTML entities in hex, up to three deep.
 *
 * The SDK's `mask` decides the same with less code, for texts of up to 64 KiB. Errors of nodes can have megabytes.
 *
 * @param secrets - What must not be seen. A secret of fewer than 8 characters is treated as one of `wholes`.
 * @param wholes - What is hidden only as a whole and not in an encoding, because parts of it are common words: a URL or a host name.
 * @returns A function that returns the same text where there is nothing to hide. Of each character of the text it compares the low byte.
 * @example
 * createMask(['kr_aNotARealKey'])('at /v2/kr_aNotARealKey', '…') // 'at /v2/…'
 */
export const createMask = (secrets: readonly string[], wholes: readonly string[] = []): Mask => {
  const readers = createReaders()
  for (const secret of secrets.flatMap(spellings))
    for (const cased of new Set([secret, lower(secret), secret.toUpperCase()])) learnSecret(readers, cased)
  const words = [...wholes, ...secrets.filter(({ length }) => length < 8)]
    .flatMap(spellings)
    .map(lower)
    .filter((word) => word !== '')

  const maskOnce = (text: string, shown: string): string => {
    const hidden = new Uint8Array(text.length + 1)
    // What JSON means comes first. A percent escape comes later, because a secret may itself hold one.
    let view = decode({ text, starts: undefined }, jsonEscape)
    const hide = (from: number, to: number): void => {
      hidden.fill(1, startOf(view, from), startOf(view, to))
    }
    for (let level = 0; level <= deepestEscape; level += 1) {
      for (const reader of Object.values(readers)) findSecrets(reader, view.text, hide)
      const seen = words.length === 0 ? '' : lower(view.text)
      for (const word of words)
        for (let at = seen.indexOf(word); at !== -1; at = seen.indexOf(word, at + 1)) hide(at, at + word.length)
      const next = decode(view, anyEscape)
      if (next === view) break
      view = next
    }
    return replaceHidden(text, hidden, shown)
  }
  return (text, shown) => {
    const once = maskOnce(text, shown)
    // Where an escape was cut, what follows means something else, so it is searched again.
    return once === text ? text : maskOnce(once, shown)
  }
}

const deepestEscape = 3

/** As it is, which is how JSON escapes spell it, and as the bytes of its UTF-8. */
const spellings = (text: string): readonly string[] => [...new Set([text, Buffer.from(text).toString('latin1')])]

/** Of ASCII alone, so that no text changes its length. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

const replaceHidden = (text: string, hidden: Uint8Array, shown: string): string => {
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    const next = hidden.indexOf(1, from)
    const to = next === -1 ? text.length : next
    parts.push(text.slice(from, to))
    // The flag after the end is never set.
    from = hidden.indexOf(0, to)
    if (from > to) parts.push(shown)
  }
  return parts.join('')
}

/** A text without some of its escapes, and where each of its characters, and its end, was in the original (`undefined`: the same place). */
interface View {
  readonly text: string
  readonly starts: Uint32Array | undefined
}

const startOf = ({ starts }: View, at: number): number => starts?.[at] ?? at

/** Of both, the first group is the code in hex, and the second a character that stands for itself or for white space. */
const jsonEscape = /\\u00([\da-f]{2})|\\([^])/gi
const anyEscape = /(?:%|&#x|\\x|[\\%]u00)([\da-f]{2});?|\\([^])/gi

/** Replaces each escape by its character. Returns the same view where there is no escape. */
const decode = (view: View, escape: RegExp): View => {
  if (view.text.search(escape) === -1) return view
  const starts = new Uint32Array(view.text.length + 1)
  const parts: string[] = []
  let length = 0
  let end = 0
  const keep = (until: number): void => {
    parts.push(view.text.slice(end, until))
    for (; end < until; end += 1) starts[length++] = startOf(view, end)
  }
  for (const { 0: all, 1: hex, 2: letter = '', index } of view.text.matchAll(escape)) {
    keep(index)
    starts[length++] = startOf(view, index)
    parts.push(hex === undefined ? letter.replace(/[nrt]/, ' ') : String.fromCharCode(Number.parseInt(hex, 16)))
    end += all.length
  }
  keep(view.text.length)
  starts[length] = startOf(view, end)
  return { text: parts.join(''), starts }
}

/** One way in which a text is read: which characters are digits, and which rows of digits the secrets have. */
interface Reader {
  /** The bits of a digit. */
  readonly bits: number
  /** How many digits in a row are compared: as many as each 8 characters of a secret have for certain. */
  readonly length: number
  /** A digit's value by the low byte of its character; -1 for a character that is passed over. */
  readonly values: Int16Array
  /** The rows of digits of all secrets: the first halves by the second half. */
  readonly rows: Map<number, Set<number>>
  /** 1 where a row may be in `rows`, by `filterPlace`: this makes the search several times as fast. */
  readonly filter: Uint8Array
}

interface Readers {
  readonly plain: Reader
  /** Letters and digits alone. */
  readonly squeezed: Reader
  readonly hex: Reader
  /** In both alphabets: base64url has '-' for '+', and '_' for '/'. */
  readonly base64: Reader
}

const readerOf = (bits: number, length: number, valueOf: (char: string) => number): Reader => ({
  bits,
  length,
  values: Int16Array.from({ length: 256 }, (_, code) => valueOf(String.fromCharCode(code))),
  rows: new Map(),
  filter: new Uint8Array(8_192),
})

const codeOf = (char: string): number => lower(char).charCodeAt(0)
const hexDigits = '0123456789abcdef'
const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const createReaders = (): Readers => ({
  plain: readerOf(8, 8, codeOf),
  squeezed: readerOf(8, 8, (char) => (/[a-z\d]/i.test(char) ? codeOf(char) : -1)),
  hex: readerOf(4, 16, (char) => hexDigits.indexOf(lower(char))),
  base64: readerOf(6, 10, (char) => base64Digits.indexOf(char === '+' ? '-' : char === '/' ? '_' : char)),
})

const filterPlace = (first: number, second: number): number => (second ^ Math.imul(first, 31)) & 8_191

const isLikely = ({ filter }: Reader, first: number, second: number): boolean =>
  filter[filterPlace(first, second)] === 1

/** Visits each row of digits in a text, with where it starts and ends; with `likely` only those that may be in `rows`. */
const readRows = (
  reader: Reader,
  { text, likely }: { readonly text: string; readonly likely: boolean },
  visit: (first: number, second: number, from: number, to: number) => void,
): void => {
  const { bits, length, values } = reader
  // A row is two numbers, each of at most 32 bits.
  const half = (bits * length) / 2
  const mask = half < 32 ? 2 ** half - 1 : -1
  /** Where the last 16 digits are. */
  const places = new Uint32Array(16)
  let first = 0
  let second = 0
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at) & 255] ?? -1
    if (value < 0) {
      // The name of a member must not be joined with the start of its value.
      if (text[at] === ':' && text[at - 1] === '"') count = 0
      continue
    }
    places[count & 15] = at
    count += 1
    first = ((first << bits) | (second >>> (half - bits))) & mask
    second = ((second << bits) | value) & mask
    if (count >= length && (!likely || isLikely(reader, first, second)))
      visit(first, second, places[(count - length) & 15] ?? 0, at + 1)
  }
}

const learn = (reader: Reader, text: string): void => {
  const { rows, filter } = reader
  readRows(reader, { text, likely: false }, (first, second) => {
    rows.set(second, (rows.get(second) ?? new Set()).add(first))
    filter[filterPlace(first, second)] = 1
  })
}

const learnSecret = ({ plain, squeezed, hex, base64 }: Readers, secret: string): void => {
  learn(squeezed, secret)
  const bytes = Buffer.from(secret, 'latin1')
  for (let from = 0; from + 8 <= bytes.length; from += 1) {
    const run = bytes.subarray(from, from + 8)
    // The others are found among letters and digits.
    if (/[^a-z\d]/i.test(run.toString('latin1'))) learn(plain, run.toString('latin1'))
    learn(hex, run.toString('hex'))
    // base64 takes three bytes at a time, so there are three places for a run in a longer text. Ten digits have no bits of its neighbours.
    for (const before of [0, 1, 2]) {
      const digits = Buffer.concat([Buffer.alloc(before), run]).toString('base64url')
      const start = Math.ceil((before * 8) / 6)
      learn(base64, digits.slice(start, start + base64.length))
    }
  }
}

const findSecrets = (reader: Reader, text: string, hide: (from: number, to: number) => void): void => {
  if (reader.rows.size === 0) return
  readRows(reader, { text, likely: true }, (first, second, from, to) => {
    if (reader.rows.get(second)?.has(first) === true) hide(from, to)
  })
}
