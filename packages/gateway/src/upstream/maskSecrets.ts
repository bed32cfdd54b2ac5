/**
 * Masks what of an upstream's URL a node's error repeats, however it is spelled: JSON escapes, percent escapes and letter case
 * are seen through. The one change made to what a node says, and made to errors only.
 * @param value - The error object's bytes.
 * @param secrets - Longest first.
 */
export const maskSecrets = (value: Buffer, secrets: readonly string[]): Buffer => {
  const text = value.toString('latin1')
  const json = decode({ text, starts: undefined }, jsonEscape, ofJson)
  const percent = decode(json, percentEscape, ofPercent)
  const hidden = new Uint8Array(text.length)
  let changed = false
  for (const view of [json, percent]) {
    const seen = view.text.replace(capital, lower)
    for (const secret of secrets) {
      const plain: View = { text: latin1(secret), starts: undefined }
      const meant = view === percent ? decode(plain, percentEscape, ofPercent) : plain
      const needle = meant.text.replace(capital, lower)
      for (let at = seen.indexOf(needle); at !== -1; at = seen.indexOf(needle, at + needle.length)) {
        const end = at + needle.length
        hidden.fill(1, view.starts?.[at] ?? at, view.starts?.[end] ?? end)
        changed = true
      }
    }
  }
  if (!changed) return value
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    const mask = hidden[from] === 1
    const next = hidden.indexOf(mask ? 0 : 1, from)
    const to = next === -1 ? text.length : next
    parts.push(mask ? '***' : text.slice(from, to))
    from = to
  }
  return Buffer.from(parts.join(''), 'latin1')
}

/** A text read in one way: its UTF-8 bytes as Latin-1, and where each stood in the original (and where that ends). */
interface View {
  readonly text: string
  readonly starts: Uint32Array | undefined
}

const jsonEscape = /\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi
const percentEscape = /%([0-9a-f]{2})/gi
const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Of ASCII only, so that no byte of a letter in UTF-8 changes and lengths stay. */
const capital = /[A-Z]+/g
const lower = (letters: string): string => letters.toLowerCase()

const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
const ofPercent = ([, hex = '']: RegExpExecArray): string => String.fromCharCode(Number.parseInt(hex, 16))
const ofJson = ([, hex, letter = '']: RegExpExecArray): string =>
  hex === undefined ? (controls[letter] ?? letter) : latin1(String.fromCharCode(Number.parseInt(hex, 16)))

/** Replaces each escape by what it means. Each byte is looked at once. */
const decode = (view: View, escape: RegExp, meaning: (match: RegExpExecArray) => string): View => {
  const parts: string[] = []
  const starts = new Uint32Array(view.text.length + 1)
  let length = 0
  let from = 0
  const startOf = (place: number): number => view.starts?.[place] ?? place
  const keep = (to: number): void => {
    for (let place = from; place < to; place += 1) starts[length++] = startOf(place)
    parts.push(view.text.slice(from, to))
  }
  for (const match of view.text.matchAll(escape)) {
    keep(match.index)
    const meant = meaning(match)
    for (let place = 0; place < meant.length; place += 1) starts[length++] = startOf(match.index)
    parts.push(meant)
    from = match.index + match[0].length
  }
  keep(view.text.length)
  starts[length] = startOf(view.text.length)
  return { text: parts.join(''), starts }
}
