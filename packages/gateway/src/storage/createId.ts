import { randomInt } from 'node:crypto'

const letters = '0123456789abcdefghijkmnpqrstuvwxyz'

/**
 * Makes the id of a row: not a secret, never given twice.
 * @param kind - What it names, as the start of the id.
 * @returns Such as `app_6f0q…`, 20 random characters.
 */
export const createId = (kind: 'usr' | 'app' | 'key' | 'tok' | 'alw' | 'inv'): string =>
  `${kind}_${Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join('')}`
