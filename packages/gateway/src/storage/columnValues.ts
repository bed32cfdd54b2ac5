import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

const hex = /^[0-9a-f]{64}$/

/**
 * Converts a SHA-256 to the bytes that a column stores.
 * @param hash - 64 lower-case hex digits.
 * @throws {TypeError} If it is not a SHA-256. The message does not contain it, because it may be the secret itself.
 */
export const toHashBytes = (hash: string): Uint8Array => {
  if (!hex.test(hash)) throw new TypeError('hash must be a SHA-256: 64 lower-case hex digits')
  return Buffer.from(hash, 'hex')
}

/**
 * A condition: a column contains a text. `%` and `_` in the text are not wildcards.
 * @param column - A column of folded text.
 * @param part - Folded text.
 */
export const containsText = (column: string, part: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
