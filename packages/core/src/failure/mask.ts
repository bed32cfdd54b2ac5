import { createMask } from './createMask.ts'

/**
 * Replaces secrets in a value that is about to be shown: each run of 8 or more characters of a secret (all of it, if it is shorter) becomes
 * '…', in any letter case and in each encoding that `createMask` knows. Reaches every text in arrays and objects, keys included, and
 * numbers. The rest stays as it is.
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
    return JSON.parse(createMask(secrets)(text, '…')) as T
  } catch {
    return otherwise
  }
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
