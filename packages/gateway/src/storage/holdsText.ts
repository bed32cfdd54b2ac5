import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

/**
 * A condition: that a column holds a text, whose signs stand for nothing but themselves.
 * @param column - A column of folded text.
 * @param part - Folded likewise.
 */
export const holdsText = (column: string, part: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
