/** Replaces secrets in a text with `shown`. */
export type Mask = (text: string, shown: string) => string

/**
 * Creates a function that masks secrets in JSON. It takes time in proportion to the text.
 *
 * It masks each run of 8 or more characters of a secret, in any letter case:
 * - unencoded, and with other characters between its letters and digits (spaces, dashes, quotes);
 * - in hex, base64 and base64url, also as part of a longer encoded text;
 * - with JSON escapes, percent escapes and hex HTML entities, nested up to three deep.
 *
 * The SDK's `mask` has the same results with less code, for texts of up to 64 KiB. Errors from nodes can have megabytes.
 *
 * @param secrets - A secret of fewer than 8 characters is treated as one of `wholes`.
 * @param wholes - Masked only as a whole and not in an encoding, because their parts are common words: URLs and host names.
 * @returns A function that returns the same text if there is nothing to mask. It compares the low byte of each character of the text.
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
    // JSON escapes are decoded first. Percent escapes come later, because a secret itself may contain one.
    let view = decode({ text, starts: undefined }, jsonEscape)
    const hide = (from: number, to: number): void => {
      hidden.fill(1, getStart(view, from), getStart(view, to))
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
    // If an escape was cut, the text after it has another meaning, so it is searched again.
    return once === text ? text : maskOnce(once, shown)
  }
}

const deepestEscape = 3

/** The text itself, as JSON escapes encode it, and its UTF-8 bytes as characters. */
const spellings = (text: string): readonly string[] => [...new Set([text, Buffer.from(text).toString('latin1')])]

/** ASCII only, so that no text changes its length. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

const replaceHidden = (text: string, hidden: Uint8Array, shown: string): string => {
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    const next = hidden.indexOf(1, from)
    const to = next === -1 ? text.length : next
    parts.push(text.slice(from, to))
    // The flag past the end is never set.
    from = hidden.indexOf(0, to)
    if (from > to) parts.push(shown)
  }
  return parts.join('')
}

/** A text with some of its escapes decoded, and the original position of each character and of the end (`undefined`: the same). */
interface View {
  readonly text: string
  readonly starts: Uint32Array | undefined
}

const getStart = ({ starts }: View, at: number): number => starts?.[at] ?? at

/** In both, the first group is a hex code, and the second an escaped character or the letter of an escaped white space. */
const jsonEscape = /\\u00([\da-f]{2})|\\([^])/gi
const anyEscape = /(?:%|&#x|\\x|[\\%]u00)([\da-f]{2});?|\\([^])/gi

/** Replaces each escape with its character. Returns the same view if there is no escape. */
const decode = (view: View, escape: RegExp): View => {
  if (view.text.search(escape) === -1) return view
  const starts = new Uint32Array(view.text.length + 1)
  const parts: string[] = []
  let length = 0
  let end = 0
  const copy = (until: number): void => {
    parts.push(view.text.slice(end, until))
    for (; end < until; end += 1) starts[length++] = getStart(view, end)
  }
  for (const { 0: all, 1: hex, 2: letter = '', index } of view.text.matchAll(escape)) {
    copy(index)
    starts[length++] = getStart(view, index)
    parts.push(hex === undefined ? letter.replace(/[nrt]/, ' ') : String.fromCharCode(Number.parseInt(hex, 16)))
    end += all.length
  }
  copy(view.text.length)
  starts[length] = getStart(view, end)
  return { text: parts.join(''), starts }
}

/** One way to read a text: which characters are digits, and which rows of digits the secrets have. */
interface Reader {
  /** The bits of a digit. */
  readonly bits: number
  /** How many digits in a row are compared: as many as any 8 characters of a secret have at least. */
  readonly length: number
  /** A digit's value by the low byte of its character; -1 for a character that is skipped. */
  readonly values: Int16Array
  /** The rows of digits of all secrets: first halves by second half. */
  readonly rows: Map<number, Set<number>>
  /** 1 if a row may be in `rows`, by `getFilterIndex`: makes the search several times as fast. */
  readonly filter: Uint8Array
}

interface Readers {
  readonly plain: Reader
  /** Letters and digits only. */
  readonly squeezed: Reader
  readonly hex: Reader
  /** Both alphabets: base64url has '-' for '+', and '_' for '/'. */
  readonly base64: Reader
}

const createReader = (bits: number, length: number, toValue: (char: string) => number): Reader => ({
  bits,
  length,
  values: Int16Array.from({ length: 256 }, (_, code) => toValue(String.fromCharCode(code))),
  rows: new Map(),
  filter: new Uint8Array(8_192),
})

const toCode = (char: string): number => lower(char).charCodeAt(0)
const hexDigits = '0123456789abcdef'
const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const createReaders = (): Readers => ({
  plain: createReader(8, 8, toCode),
  squeezed: createReader(8, 8, (char) => (/[a-z\d]/i.test(char) ? toCode(char) : -1)),
  hex: createReader(4, 16, (char) => hexDigits.indexOf(lower(char))),
  base64: createReader(6, 10, (char) => base64Digits.indexOf(char === '+' ? '-' : char === '/' ? '_' : char)),
})

const getFilterIndex = (first: number, second: number): number => (second ^ Math.imul(first, 31)) & 8_191

const isLikely = ({ filter }: Reader, first: number, second: number): boolean =>
  filter[getFilterIndex(first, second)] === 1

/** Visits each row of digits in a text with its start and end; with `likely` only those that may be in `rows`. */
const readRows = (
  reader: Reader,
  { text, likely }: { readonly text: string; readonly likely: boolean },
  visit: (first: number, second: number, from: number, to: number) => void,
): void => {
  const { bits, length, values } = reader
  // A row is two numbers, each of at most 32 bits.
  const half = (bits * length) / 2
  const mask = half < 32 ? 2 ** half - 1 : -1
  /** The positions of the last 16 digits. */
  const places = new Uint32Array(16)
  let first = 0
  let second = 0
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at) & 255] ?? -1
    if (value < 0) {
      // A member's name must not be joined with the start of its value.
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
    filter[getFilterIndex(first, second)] = 1
  })
}

const learnSecret = ({ plain, squeezed, hex, base64 }: Readers, secret: string): void => {
  learn(squeezed, secret)
  const bytes = Buffer.from(secret, 'latin1')
  for (let from = 0; from + 8 <= bytes.length; from += 1) {
    const run = bytes.subarray(from, from + 8)
    // Other runs are found among letters and digits.
    if (/[^a-z\d]/i.test(run.toString('latin1'))) learn(plain, run.toString('latin1'))
    learn(hex, run.toString('hex'))
    // base64 encodes three bytes at a time, so a run in a longer text can be at three offsets. Ten digits have no bits of its neighbours.
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
