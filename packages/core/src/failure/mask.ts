/**
 * Replaces secrets in something that is about to be shown: each run of 8 or more characters of a secret (all of it, where it is shorter)
 * becomes '…', also where it stands percent-encoded or JSON-escaped. Reaches every text in arrays and objects, keys included, and numbers.
 * All else stays as it is.
 *
 * @param value - A text or a JSON value.
 * @param secrets - What must not be shown, as it stands in a URL or header: with no white space, quotes or backslashes in it.
 * @param otherwise - Given back where the rest would be no JSON any more: a number was cut, or the value is nested too deep.
 * @example
 * mask({ url: 'https://node.example/v2/notARealKey' }, ['notARealKey'], {}) // { url: 'https://node.example/v2/…' }
 */
export function mask<T>(value: T, secrets: readonly string[], otherwise: T): T {
  try {
    return JSON.parse(secrets.reduce(hide, JSON.stringify(value))) as T
  } catch {
    return otherwise
  }
}

function hide(text: string, secret: string): string {
  const least = Math.min(secret.length, 8)
  // By what escapes mean, then by the characters as they stand, because a secret may itself hold a '%'.
  for (const escape of [/%[\da-f]{2}|\\+(u[\da-f]{4}|[^])/gi, /$^/g]) {
    const plain = text.replace(escape, meaning)
    // Most texts hold nothing, and may be long: this is the fast way to know.
    let from = least ? 0 : 1
    while (from + least <= secret.length && !plain.includes(secret.slice(from, from + least))) from++
    if (from + least > secret.length) continue
    const parts = text.match(new RegExp(`${escape.source}|[^]`, 'gi')) ?? []
    text = ''
    for (let at = 0; at < parts.length; at++) {
      let end = at + least
      if (end <= parts.length && secret.includes(plain.slice(at, end))) {
        while (end < parts.length && secret.includes(plain.slice(at, end + 1))) end++
        text += '…'
        at = end - 1
      } else text += parts[at]
    }
  }
  return text
}

const meaning = (escape: string): string => {
  const hex = /^(?:%|\\+u)(..+)/.exec(escape)?.[1]
  return hex ? String.fromCharCode(parseInt(hex, 16)) : escape.slice(-1)
}
