import { packValue, toEntrySeed, unpackValue } from './chainFile.ts'
import type { ChainFile, EntryRow } from './chainFile.ts'
import { mayConfirm } from './createEmptyTable.ts'
import type { AnswerSource } from './createSourceTable.ts'
import { prepareRows } from './prepareRows.ts'

/** The result of another read, at a block that the node had reported as finalized before. */
export interface EntryAnswer extends AnswerSource {
  /** What `readEntry` finds it by. */
  readonly text: string
  /** The block that it is of. */
  readonly block: number
  readonly value: Uint8Array
  /** Whether it is nothing, such as an empty list: a node that still indexes may have nothing yet, so another one has to confirm it. @default false */
  readonly isEmpty?: boolean
}

/** The table of results other than logs. */
export interface EntryTable {
  /**
   * Adds an answer, or confirms an empty one.
   * @returns The source of an empty answer that this one contradicts: then neither is stored.
   */
  readonly add: (
    source: number,
    answer: Pick<EntryAnswer, 'text' | 'block' | 'value' | 'isEmpty'>,
  ) => number | undefined
  readonly remove: (id: Uint8Array) => void
  /** Sets when a row was used. */
  readonly use: (id: Uint8Array) => void
}

/**
 * Opens the table.
 * @param clock.now - Milliseconds since 1970.
 * @param clock.today - Gets the start of the day, in milliseconds since 1970.
 */
export const createEntryTable = (
  file: ChainFile,
  { now, today }: { readonly now: () => number; readonly today: () => number },
): EntryTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const insertEntry = prepare(
    'insert or replace into entries(id, source, block, unconfirmed, day, value) values (?, ?, ?, ?, ?, ?)',
  )
  const selectEntry = prepare<EntryRow>('select * from entries where id = ?')
  const deleteEntry = prepare('delete from entries where id = ?')
  const useEntry = prepare('update entries set day = ? where id = ?')
  return {
    add: (source, { text, block, value, isEmpty = false }) => {
      const id = file.toKey(text)
      const insert = (unconfirmed: number): void => {
        const packed = packValue(value, toEntrySeed(id, { source, block, unconfirmed }))
        insertEntry.run(id, source, block, unconfirmed, today(), packed)
      }
      const before = selectEntry.get(id)
      const known = before && unpackValue(before.value, toEntrySeed(id, before))
      if (before === undefined || known === undefined) insert(isEmpty ? now() : 0)
      else if (before.unconfirmed !== 0 && known.equals(value)) {
        if (mayConfirm({ source: before.source, at: before.unconfirmed }, source, now())) insert(0)
      } else if (before.unconfirmed !== 0) {
        deleteEntry.run(id)
        return before.source
      }
      return undefined
    },
    remove: (id) => void deleteEntry.run(id),
    use: (id) => void useEntry.run(today(), id),
  }
}
