/**
 * Replaces secrets in a value that will be shown: each run of 8 or more characters of a secret (all of it, if it is shorter) becomes '…', in
 * any letter case. Finds runs in base64, base64url and hex, also inside longer strings; with other characters between their letters and digits,
 * such as spaces; and behind percent escapes, JSON escapes and HTML entities, up to three levels deep. Searches every string in arrays and
 * objects, keys included, and numbers. The rest is unchanged.
 *
 * @param value - A string or a JSON value.
 * @param secrets - The secrets as they are written in a URL or header, without white space, quotes or backslashes.
 * @param fallback - Returned if masking breaks the JSON (part of a number is a secret), if the value is longer than 64 KiB of JSON, or if it is
 *   nested more than 1,000 levels deep.
 * @example
 * mask({ url: 'https://node.example/v2/notARealKey' }, ['notARealKey'], {}) // { url: 'https://node.example/v2/…' }
 */
export function mask<T>(value: T, secrets: readonly string[], fallback: T): T {
  try {
    const text = JSON.stringify(value)
    if (text.length > 65_536 || getDepth(text) > 1_000) return fallback
    const runs = knownRuns.get(secrets) ?? createRuns(secrets)
    knownRuns.set(secrets, runs)
    const once = hide(text, runs)
    // Masking may cut an escape in two, which changes the meaning of the rest. So the result is searched again.
    return JSON.parse(once === text ? text : hide(once, runs)) as T
  } catch {
    return fallback
  }
}

/** A text with some of its escapes decoded, and the original position of each of its characters and of its end. */
interface View {
  readonly plain: string
  readonly starts: readonly number[]
}

/** The strings of a JSON value, with the colon if the string is the name of a member. */
const texts = /("[^"\\]*(?:\\.[^"\\]*)*")(:?)/g

const escapes = /(?:%|&#x|\\+(?:u00|x))([\da-f]{2});?|\\+([^])/gi

const jsonEscapes = /\\(?:u([\da-f]{4})|([^]))/g

const decode = ({ plain, starts }: View, escapes: RegExp): View => {
  const left: number[] = []
  let text = ''
  let end = 0
  const copy = (until: number): void => {
    for (; end < until; end++) {
      left.push(starts[end]!)
      text += plain[end]!
    }
  }
  for (const { 0: escape, 1: hex, 2: char, index } of plain.matchAll(escapes)) {
    copy(index)
    left.push(starts[end]!)
    text += hex ? String.fromCharCode(parseInt(hex, 16) || 32) : char!.replace(/[bfnrt]/, ' ')
    end += escape.length
  }
  copy(plain.length)
  return { plain: text, starts: [...left, starts[end]!] }
}

/** Lower case, in one alphabet of base64. 'İ' is the only character that gets longer in lower case. */
const normalize = (text: string): string =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('+', '-').replaceAll('/', '_')

/** The letters and digits of a text, and the '\0' after the name of a member, so that a name and its value are never joined. */
const squeeze = (text: string): string => text.replace(/[^a-z\d\0]/g, '')

/** All runs of eight characters; the whole text if it is shorter. */
const getWindows = (text: string): readonly string[] =>
  Array.from({ length: Math.max(1, text.length - 7) }, (_, from) => text.slice(from, from + 8))

/**
 * The runs to search for, by length of their start and then by their start of eight characters (the whole run if it is shorter). One look-up at
 * each position of a text is then enough for any number of secrets. `plain` is searched for in the text as it is, `squeezed` in its letters and
 * digits only.
 */
interface Runs {
  readonly plain: Map<number, Map<string, Set<string>>>
  readonly squeezed: Map<number, Map<string, Set<string>>>
}

/** By list of secrets: an endpoint passes the same list for each failure. */
const knownRuns = new WeakMap<readonly string[], Runs>()

const createRuns = (secrets: readonly string[]): Runs => {
  const runs: Runs = { plain: new Map(), squeezed: new Map() }
  const add = (text: string): void => {
    const start = text.slice(0, 8)
    const { length } = start
    if (!length) return
    const all = length > 7 && squeeze(text) === text ? runs.squeezed : runs.plain
    const starts = all.get(length) ?? new Map<string, Set<string>>()
    all.set(length, starts.set(start, (starts.get(start) ?? new Set()).add(text)))
  }
  for (const secret of secrets) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(secret))
    for (const text of [secret, bytes]) getWindows(normalize(text)).forEach(add)
    if (bytes.length < 8) continue
    const encoded = getWindows(bytes).flatMap((run) => [
      run.replace(/[^]/g, (char) => char.charCodeAt(0).toString(16)),
      // Base64 encodes groups of three bytes, and a run can start at any of the three. These are the digits that depend on the run only.
      btoa(run).slice(0, 10),
      btoa(` ${run}`).slice(2),
      btoa(`  ${run}`).slice(3, 13),
    ])
    for (const text of [...encoded, ...getWindows(squeeze(normalize(secret)))].map(normalize))
      for (const run of [text, squeeze(text)]) if (run.length > 7) add(run)
  }
  return runs
}

const hide = (text: string, runs: Runs): string => {
  const hidden = new Uint8Array(text.length + 1)
  const marked = text.replace(texts, (_, name: string, colon: string) => name + (colon && '\0'))
  let view = decode({ plain: marked, starts: Array.from(hidden.keys()) }, jsonEscapes)
  const search = (seen: string, runs: Runs['plain'], positions?: readonly number[]): void => {
    const toPosition = (at: number): number => (positions ? positions[at]! : at)
    for (const [length, starts] of runs)
      for (let at = 0; at + length <= seen.length; at++) {
        const found = starts.get(seen.slice(at, at + length))
        if (!found) continue
        for (const run of found)
          if (run.length === length || seen.startsWith(run, at))
            hidden.fill(1, view.starts[toPosition(at)], view.starts[toPosition(at + run.length - 1) + 1])
      }
  }
  // The text is searched before escapes are decoded, because a secret may contain a '%'.
  for (let level = 0; level < 4; level++) {
    const seen = normalize(view.plain)
    search(seen, runs.plain)
    const positions: number[] = []
    for (let at = 0; at < seen.length; at++) if (squeeze(seen[at]!)) positions.push(at)
    search(squeeze(seen), runs.squeezed, positions)
    if (view.plain.search(escapes) < 0) break
    view = decode(view, escapes)
  }
  let out = ''
  for (let from = 0; from < text.length;) {
    let to = hidden.indexOf(1, from)
    if (to < 0) to = text.length
    out += text.slice(from, to)
    from = hidden.indexOf(0, to)
    if (from > to) out += '…'
  }
  return out
}

const getDepth = (json: string): number => {
  let deepest = 0
  let depth = 0
  for (const [bracket] of json.replace(texts, '').matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}
