/** Replaces secrets in a text by `shown`. */
export type Mask = (text: string, shown: string) => string

/**
 * Makes a function that hides secrets in JSON, or in other text, before somebody sees it. It takes time in proportion to the text.
 *
 * It hides each run of 8 or more characters of a secret, in any letter case:
 * - as it is, and with other characters between its letters and digits (spaces, dashes, quotes);
 * - in hex, base64 and base64url, also as part of a longer text that is encoded;
 * - behind JSON escapes, percent escapes and HTML entities in hex, up to four deep.
 *
 * Only the low byte of a character counts, so a secret with other characters than Latin-1 is also given as the bytes of its UTF-8.
 *
 * @param secrets - What must not be seen. A secret of fewer than 8 characters is treated as one of `wholes`.
 * @param wholes - What is hidden only as a whole and not in an encoding, because parts of it are common words: a URL or a host name.
 * @returns A function that returns the same text where there is nothing to hide.
 * @example
 * createMask(['kr_aNotARealKey'])('at /v2/kr_aNotARealKey', '…') // 'at /v2/…'
 */
export function createMask(secrets: readonly string[], wholes: readonly string[] = []): Mask {
  /** Eight bytes in a row, as two numbers: the first four by the last four. */
  const runs = new Map<number, Set<number>>()
  const [plain, squeezed] = getReaders()
  for (const secret of secrets)
    for (const reader of [plain, squeezed])
      readBytes(secret, reader, (high, low) => {
        runs.set(low, (runs.get(low) ?? new Set()).add(high))
      })
  const words = [...wholes, ...secrets.filter(({ length }) => length < 8)].filter(Boolean).map(lower)

  const maskOnce = (text: string, shown: string): string => {
    const hidden = new Uint8Array(text.length + 1)
    // What JSON means comes first. A percent escape comes later, because a secret may itself hold one.
    let view = decode({ text }, jsonEscape)
    const hide = (from: number, to: number): void => {
      hidden.fill(1, startOf(view, from), startOf(view, to))
    }
    for (let level = 0; level < 4; level++) {
      for (const reader of getReaders())
        readBytes(view.text, reader, (high, low, from, to) => {
          if (runs.get(low)?.has(high)) hide(from, to)
        })
      const seen = lower(view.text)
      for (const word of words)
        for (let at = seen.indexOf(word); at >= 0; at = seen.indexOf(word, at + 1)) hide(at, at + word.length)
      const next = decode(view, anyEscape)
      if (next === view) break
      view = next
    }
    let out = ''
    for (let from = 0; from < text.length;) {
      let to = hidden.indexOf(1, from)
      if (to < 0) to = text.length
      out += text.slice(from, to)
      from = hidden.indexOf(0, to)
      if (from > to) out += shown
    }
    return out
  }
  // Where an escape is cut, what follows means something else: it is looked at again.
  return (text, shown) => {
    const once = maskOnce(text, shown)
    return once === text ? text : maskOnce(once, shown)
  }
}

/** Of ASCII alone, so that no text changes its length. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** A text without some of its escapes, and where each of its characters starts in the text it came from (absent: at the same place). */
interface View {
  readonly text: string
  readonly starts?: Uint32Array
}

const startOf = ({ starts }: View, at: number): number => (starts ? starts[at]! : at)

/** Of both, the first group is the code in hex, and the second a character that stands for itself or for white space. */
const jsonEscape = /\\u00([\da-f]{2})|\\([^])/gi
const anyEscape = /(?:%|&#x|\\x|[\\%]u00)([\da-f]{2});?|\\([^])/gi

const decode = (view: View, escape: RegExp): View => {
  const starts = new Uint32Array(view.text.length + 1)
  let text = ''
  let end = 0
  const keep = (until: number): void => {
    for (let at = end; at < until; at++) starts[text.length + at - end] = startOf(view, at)
    text += view.text.slice(end, until)
  }
  for (const found of view.text.matchAll(escape)) {
    keep(found.index)
    starts[text.length] = startOf(view, found.index)
    text += found[2]?.replace(/[nrt]/, ' ') ?? String.fromCharCode(parseInt(found[1]!, 16))
    end = found.index + found[0].length
  }
  if (!end) return view
  keep(view.text.length)
  starts[text.length] = startOf(view, view.text.length)
  return { text, starts }
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** How characters are read as bytes: each is a digit of so many bits, by a table, or `none`, which is passed over. */
interface Reader {
  readonly bits: 4 | 6 | 8
  /** By the low byte of a character's code. */
  readonly digits: Int16Array
}

const none = -1

const lowerCode = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code)

const readerOf = (bits: Reader['bits'], digitOf: (code: number, char: string) => number): Reader => ({
  bits,
  digits: Int16Array.from({ length: 256 }, (_, code) => digitOf(code, String.fromCharCode(code))),
})

/** Made once, when a first mask is. */
let readers: readonly [plain: Reader, squeezed: Reader, hex: Reader, base64: Reader] | undefined

const getReaders = (): NonNullable<typeof readers> =>
  (readers ??= [
    readerOf(8, lowerCode),
    readerOf(8, (code, char) => (/[a-z\d]/i.test(char) ? lowerCode(code) : none)),
    readerOf(4, (_, char) => (/[a-f\d]/i.test(char) ? parseInt(char, 16) : none)),
    // In either alphabet: base64url has '-' for '+', and '_' for '/'.
    readerOf(6, (_, char) => base64Digits.indexOf(char === '-' ? '+' : char === '_' ? '/' : char)),
  ])

/**
 * Reads a text as bytes, from each place where a byte may begin: a secret that is encoded as part of something longer begins anywhere.
 * @param visit - Gets each eight bytes in a row, in lower case, as two numbers; and where they start and end.
 */
const readBytes = (
  text: string,
  { bits, digits }: Reader,
  visit: (high: number, low: number, from: number, to: number) => void,
): void => {
  /** Where the last eight bytes start. */
  const starts = new Uint32Array(8)
  for (let skip = 0; skip < 8; skip += bits === 6 ? 2 : bits) {
    let high = 0
    let low = 0
    /** The bits that are not part of a byte yet, behind those that were. */
    let rest = 0
    let count = -skip
    let bytes = 0
    let before = 0
    for (let at = 0; at < text.length; at++) {
      const digit = digits[text.charCodeAt(at) & 255]!
      if (digit < 0) continue
      rest = (rest << bits) | digit
      count += bits
      if (count >= 8) {
        count -= 8
        starts[bytes & 7] = bits === 8 ? at : before
        bytes++
        high = (high << 8) | (low >>> 24)
        low = (low << 8) | lowerCode((rest >> count) & 255)
        if (bytes >= 8) visit(high, low, starts[bytes & 7]!, at + 1)
      }
      before = at
    }
  }
}
