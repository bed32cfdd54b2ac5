import { randomInt } from 'node:crypto'

const letters = '0123456789abcdefghijkmnpqrstuvwxyz'

/**
 * Creates a unique id for a row. It is not a secret.
 * @param kind - The prefix.
 * @returns The prefix and 20 random characters, such as `app_6f0q…`.
 */
export const createId = (
  kind: 'usr' | 'acc' | 'app' | 'key' | 'tok' | 'alw' | 'inv' | 'whk' | 'fac' | 'dlv' | 'evt',
): string => `${kind}_${Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join('')}`
