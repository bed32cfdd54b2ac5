/**
 * Replaces secrets in something that is about to be shown: each run of 8 or more characters of a secret (all of it, where it is shorter)
 * becomes '…', also where it stands percent-encoded or JSON-escaped. Reaches every text in arrays and objects, keys included, and numbers.
 * All else stays as it is.
 *
 * @param value - A text or a JSON value.
 * @param secrets - What must not be shown, as it stands in a URL or header: with no white space, quotes or backslashes in it.
 * @param otherwise - Given back where the rest would be no JSON any more (a number was cut, or the value is nested too deep), and where the
 *   value is longer than a million characters.
 * @example
 * mask({ url: 'https://node.example/v2/notARealKey' }, ['notARealKey'], {}) // { url: 'https://node.example/v2/…' }
 */
export function mask<T>(value: T, secrets: readonly string[], otherwise: T): T {
  try {
    let text = JSON.stringify(value)
    if (text.length > 1e6) return otherwise
    // By what escapes mean, then by the characters as they stand, because a secret may itself hold a '%'.
    for (const character of [/(?:%|\\+u00)([\da-f]{2})|\\*([^])/gi, /()([^])/g]) {
      const parts: string[] = []
      const plain = text.replace(character, (raw: string, hex: string, char?: string) => {
        parts.push(raw)
        return char ?? String.fromCharCode(parseInt(hex, 16))
      })
      for (const secret of secrets) {
        const least = Math.min(secret.length, 8)
        for (let from = 0; from + least <= secret.length; from++)
          for (let at = -1; least && (at = plain.indexOf(secret.slice(from, from + least), at + 1)) >= 0;)
            parts.fill('\0', at, at + least)
      }
      // JSON itself holds no such character.
      text = parts.join('').replace(/\0+/g, '…')
    }
    return JSON.parse(text) as T
  } catch {
    return otherwise
  }
}
