/**
 * Replaces secrets in a value that is about to be shown: each run of 8 or more characters of a secret (all of it, if it is shorter) becomes
 * '…', in any letter case. Finds runs in base64, base64url and hex, also as part of a longer text; with other characters between their
 * letters and digits, such as spaces; and behind percent escapes, JSON escapes and HTML entities, up to three deep. Reaches every text in
 * arrays and objects, keys included, and numbers. The rest stays as it is.
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
    const text = JSON.stringify(value)
    if (text.length > 65_536 || depth(text) > 1_000) return otherwise
    const runs = known.get(secrets) ?? runsOf(secrets)
    known.set(secrets, runs)
    const once = hide(text, runs)
    // Where an escape was cut, what follows means something else, so it is searched again.
    return JSON.parse(once === text ? text : hide(once, runs)) as T
  } catch {
    return otherwise
  }
}

/** A text without some of its escapes, and where each of its characters, and its end, was in the text it came from. */
interface View {
  readonly plain: string
  readonly starts: readonly number[]
}

/** The texts of a JSON value, each with the colon behind the name of a member. */
const texts = /("[^"\\]*(?:\\.[^"\\]*)*")(:?)/g

const escapes = /(?:%|&#x|\\+(?:u00|x))([\da-f]{2});?|\\+([^])/gi

const jsonEscapes = /\\(?:u([\da-f]{4})|([^]))/g

const decode = ({ plain, starts }: View, escapes: RegExp): View => {
  const left: number[] = []
  let text = ''
  let end = 0
  const keep = (until: number): void => {
    for (; end < until; end++) {
      left.push(starts[end]!)
      text += plain[end]!
    }
  }
  for (const { 0: escape, 1: hex, 2: char, index } of plain.matchAll(escapes)) {
    keep(index)
    left.push(starts[end]!)
    text += hex ? String.fromCharCode(parseInt(hex, 16) || 32) : char!.replace(/[bfnrt]/, ' ')
    end += escape.length
  }
  keep(plain.length)
  return { plain: text, starts: [...left, starts[end]!] }
}

/** In lower case, and in one alphabet of base64. 'İ' is the one character that grows when it is lower-cased. */
const normal = (text: string): string =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('+', '-').replaceAll('/', '_')

/** The letters and digits of a text, and '\0' where the name of a member ends: it must not be joined with the start of its value. */
const squeeze = (text: string): string => text.replace(/[^a-z\d\0]/g, '')

/** Each eight characters in a row; all of a shorter text. */
const windows = (text: string): readonly string[] =>
  Array.from({ length: Math.max(1, text.length - 7) }, (_, from) => text.slice(from, from + 8))

/**
 * What to look for, by its first eight characters (by all of a shorter one): one look at each place of a text is then enough, however many
 * secrets there are. First in a text as it is, by how many characters these are, then among its letters and digits alone.
 */
interface Runs {
  readonly plain: Map<number, Map<string, Set<string>>>
  readonly squeezed: Map<number, Map<string, Set<string>>>
}

/** By the list of secrets, which is the same one for each failure at an address. */
const known = new WeakMap<readonly string[], Runs>()

const runsOf = (secrets: readonly string[]): Runs => {
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
    for (const text of [secret, bytes]) windows(normal(text)).forEach(add)
    if (bytes.length < 8) continue
    const spelled = windows(bytes).flatMap((run) => [
      run.replace(/[^]/g, (char) => char.charCodeAt(0).toString(16)),
      // In a longer text a run starts at one of three places in a group of base64. These digits are the run's own.
      btoa(run).slice(0, 10),
      btoa(` ${run}`).slice(2),
      btoa(`  ${run}`).slice(3, 13),
    ])
    for (const text of [...spelled, ...windows(squeeze(normal(secret)))].map(normal))
      for (const run of [text, squeeze(text)]) if (run.length > 7) add(run)
  }
  return runs
}

const hide = (text: string, runs: Runs): string => {
  const hidden = new Uint8Array(text.length + 1)
  const marked = text.replace(texts, (_, name: string, colon: string) => name + (colon && '\0'))
  let view = decode({ plain: marked, starts: Array.from(hidden.keys()) }, jsonEscapes)
  const search = (seen: string, runs: Runs['plain'], places?: readonly number[]): void => {
    const placeOf = (at: number): number => (places ? places[at]! : at)
    for (const [length, starts] of runs)
      for (let at = 0; at + length <= seen.length; at++) {
        const found = starts.get(seen.slice(at, at + length))
        if (!found) continue
        for (const run of found)
          if (run.length === length || seen.startsWith(run, at))
            hidden.fill(1, view.starts[placeOf(at)], view.starts[placeOf(at + run.length - 1) + 1])
      }
  }
  // The unchanged characters come first, because a secret may itself hold a '%'.
  for (let level = 0; level < 4; level++) {
    const seen = normal(view.plain)
    search(seen, runs.plain)
    const places: number[] = []
    for (let at = 0; at < seen.length; at++) if (squeeze(seen[at]!)) places.push(at)
    search(squeeze(seen), runs.squeezed, places)
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

const depth = (json: string): number => {
  let most = 0
  let now = 0
  for (const [bracket] of json.replace(texts, '').matchAll(/[[\]{}]/g)) {
    now += bracket === '[' || bracket === '{' ? 1 : -1
    most = Math.max(most, now)
  }
  return most
}
