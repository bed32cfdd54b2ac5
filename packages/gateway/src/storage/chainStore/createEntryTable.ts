import { getMeaning } from './getMeaning.ts'
import { packValue, toEntrySeed, unpackValue } from './chainFile.ts'
import type { ChainRows } from './chainRows.ts'
import type { AnswerSource } from './answerSource.ts'
import type { StoredCall } from './storedCall.ts'
import type { Answerer } from './toAnswerer.ts'

/** The result of another read, at a block that the node had reported as finalized before. */
export interface EntryAnswer extends AnswerSource {
  /** What `readEntry` finds it by. */
  readonly text: string
  /** The block that it is of. */
  readonly block: number
  readonly value: Uint8Array
  /** Whether it is nothing, such as an empty list: a node that still indexes may have nothing yet, so another one has to confirm it. @default false */
  readonly isEmpty?: boolean
  /** The call, if another node has to confirm the result although it is not empty. @default undefined */
  readonly call?: StoredCall | undefined
}

/** A result that another node should confirm. */
export interface UnconfirmedEntry {
  /** Later ones have higher numbers. */
  readonly number: number
  readonly call: StoredCall
  readonly block: number
}

/** The table of results other than logs. */
export interface EntryTable {
  /**
   * Adds an answer, or confirms one that is not confirmed.
   * @returns The source of an answer that this one contradicts: then neither is stored.
   */
  readonly add: (
    answerer: Answerer,
    answer: Pick<EntryAnswer, 'text' | 'block' | 'value' | 'isEmpty' | 'call'>,
  ) => number | undefined
}

/**
 * Opens the table.
 * @param clock.now - Milliseconds since 1970.
 * @param clock.today - Gets the start of the day, in milliseconds since 1970.
 */
export const createEntryTable = (
  { entries, toKey }: Pick<ChainRows, 'entries' | 'toKey'>,
  { now, today }: { readonly now: () => number; readonly today: () => number },
): EntryTable => ({
  add: ({ source, mayConfirm }, { text, block, value, isEmpty = false, call }) => {
    const id = toKey(text)
    const insert = (unconfirmed: number): void => {
      const packed = packValue(value, toEntrySeed(id, { source, block, unconfirmed }))
      const open = unconfirmed === 0 ? undefined : call
      entries.insert(id, { source, block, unconfirmed, day: today(), value: packed }, open)
    }
    const before = entries.get(id)
    const known = before && unpackValue(before.value, toEntrySeed(id, before))
    if (before === undefined || known === undefined) {
      insert(isEmpty || call !== undefined ? now() : 0)
      return undefined
    }
    if (before.unconfirmed === 0) return undefined
    const mayBeConfirmed = mayConfirm({ source: before.source, at: before.unconfirmed })
    if (isSame(known, value, call)) {
      if (mayBeConfirmed) insert(0)
      return undefined
    }
    entries.delete(id)
    return before.source
  },
})

const isSame = (one: Buffer, other: Uint8Array, call: StoredCall | undefined): boolean => {
  if (one.equals(other)) return true
  if (call === undefined) return false
  const meaning = getMeaning(one.toString(), call.method)
  return meaning !== undefined && meaning === getMeaning(Buffer.from(other).toString(), call.method)
}
