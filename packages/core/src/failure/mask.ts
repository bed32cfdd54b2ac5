/**
 * Replaces secrets in something that is about to be shown: each run of 8 or more characters of a secret (all of it, where it is shorter)
 * becomes '…', in whatever letter case, also where it stands percent-encoded or JSON-escaped. Reaches every text in arrays and objects, keys
 * included, and numbers. All else stays as it is.
 *
 * @param value - A text or a JSON value.
 * @param secrets - What must not be shown, as it stands in a URL or header: with no white space, quotes or backslashes in it.
 * @param otherwise - Given back where the rest would be no JSON any more (a number was cut), where the value is longer than 64 KiB of JSON,
 *   and where it is nested more than 1,000 deep.
 * @example
 * mask({ url: 'https://node.example/v2/notARealKey' }, ['notARealKey'], {}) // { url: 'https://node.example/v2/…' }
 */
export function mask<T>(value: T, secrets: readonly string[], otherwise: T): T {
  try {
    let text = JSON.stringify(value)
    if (text.length > 65_536 || depth(text) > 1_000) return otherwise
    const runs = runsOf(secrets)
    // By what escapes mean, then by the characters as they stand, because a secret may itself hold a '%'.
    if (/[%\\]/.test(text)) text = hide(text, decode(text), runs)
    return JSON.parse(hide(text, { plain: text }, runs)) as T
  } catch {
    return otherwise
  }
}

/** A text without its escapes, and where each of its characters starts in the text it came from (where there was an escape). */
interface Decoded {
  readonly plain: string
  readonly starts?: readonly number[]
}

const decode = (text: string): Decoded => {
  const starts: number[] = []
  let plain = ''
  let end = 0
  const keep = (until: number): void => {
    for (let at = end; at < until; at++) starts.push(at)
    plain += text.slice(end, until)
  }
  for (const found of text.matchAll(/%([\da-f]{2})|\\+(?:u00([\da-f]{2})|([^]))/gi)) {
    keep(found.index)
    starts.push(found.index)
    plain += found[3] ?? String.fromCharCode(parseInt(found[1] ?? found[2] ?? '', 16))
    end = found.index + found[0].length
  }
  keep(text.length)
  return { plain, starts: [...starts, text.length] }
}

/** 'İ' is the one character that grows when it is lower-cased. */
const lower = (text: string): string => text.replaceAll('İ', 'i').toLowerCase()

/** What to look for, by length: one look at each place of a text is then enough, however many secrets there are. */
const runsOf = (secrets: readonly string[]): Map<number, Set<string>> => {
  const runs = new Map<number, Set<string>>()
  for (const secret of secrets.map(lower)) {
    const least = Math.min(secret.length, 8)
    if (!least) continue
    const set = runs.get(least) ?? new Set()
    for (let from = 0; from + least <= secret.length; from++) set.add(secret.slice(from, from + least))
    runs.set(least, set)
  }
  return runs
}

const hide = (text: string, { plain, starts }: Decoded, runs: Map<number, Set<string>>): string => {
  const seen = lower(plain)
  const hidden = new Uint8Array(seen.length + 1)
  for (const [least, set] of runs) {
    let shownFrom = 0
    for (let at = 0; at + least <= seen.length; at++)
      if (set.has(seen.slice(at, at + least))) {
        hidden.fill(1, Math.max(at, shownFrom), at + least)
        shownFrom = at + least
      }
  }
  const start = (at: number): number => starts?.[at] ?? at
  let out = ''
  for (let from = 0; from < seen.length;) {
    let to = hidden.indexOf(1, from)
    if (to < 0) to = seen.length
    out += text.slice(start(from), start(to))
    if (to === seen.length) break
    out += '…'
    from = hidden.indexOf(0, to)
  }
  return out
}

const depth = (json: string): number => {
  let most = 0
  let now = 0
  for (const [bracket] of json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').matchAll(/[[\]{}]/g)) {
    now += bracket === '[' || bracket === '{' ? 1 : -1
    most = Math.max(most, now)
  }
  return most
}
