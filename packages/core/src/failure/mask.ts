/**
 * Replaces secrets in something that is about to be shown: each run of 8 or more characters of a secret (of all of it, where it is shorter)
 * becomes '…', also where it stands percent-encoded or JSON-escaped. Goes through arrays and objects, keys included. All else stays as it is,
 * save what lies more than 99 levels deep, which becomes '…' too.
 *
 * @param value - A text or a JSON value.
 * @param secrets - What must not be shown, as written by its owner.
 * @example
 * mask({ url: 'https://node.example/v2/notARealKey' }, ['notARealKey']) // { url: 'https://node.example/v2/…' }
 */
export function mask<T>(value: T, secrets: readonly string[]): T {
  return walk(value, secrets, 99) as T
}

function walk(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (!depth) return '…'
  if (Array.isArray(value)) return value.map((item) => walk(item, secrets, depth - 1))
  if (value && typeof value === 'object')
    return Object.fromEntries(
      // Entries, not assignment: a key named __proto__ must stay a mere key.
      Object.entries(value).map(([key, item]) => [walk(key, secrets, 1), walk(item, secrets, depth - 1)]),
    )
  const text = String(value)
  const shown = secrets.reduce(hide, text)
  return shown === text ? value : shown
}

function hide(text: string, secret: string): string {
  const least = Math.min(secret.length, 8)
  // As it stands first, because a secret may itself hold a '%' or a '\'; then by what its escapes mean.
  for (const escapes of [/[^]/g, /%[\da-f]{2}|\\u[\da-f]{4}|\\?[^]/gi]) {
    const parts = text.match(escapes) ?? []
    const plain = parts.map(meaning).join('')
    let shown = ''
    for (let at = 0; at < parts.length;) {
      let end = at + least
      if (least && end <= parts.length && secret.includes(plain.slice(at, end))) {
        while (end < parts.length && secret.includes(plain.slice(at, end + 1))) end++
        shown += '…'
        at = end
      } else shown += parts[at++]
    }
    text = shown
  }
  return text
}

const meaning = (part: string): string =>
  part[1]
    ? /^%|^\\u/.test(part) && part[2]
      ? String.fromCharCode(parseInt(part.replace(/\W?u?/, ''), 16))
      : part[1]
    : part
