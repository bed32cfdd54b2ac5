import { getMeaning } from './getMeaning.ts'
import { packValue, toEntrySeed, unpackValue } from './chainFile.ts'
import type { ChainRows } from './chainRows.ts'
import type { Answerer, AnswerSource } from './createSourceTable.ts'

/** A call whose result is stored. */
export interface StoredCall {
  readonly method: string
  /** Source text, in the one spelling that the store uses. */
  readonly params: string
  /** The client of the node whose trace this is. */
  readonly client?: string | undefined
}

/** Gets the text that a result is found by. */
export const toEntryText = (chain: string, { method, params, client }: StoredCall): string =>
  `${chain} ${method} ${params}${client === undefined ? '' : ` ${client}`}`

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

const isCall = (value: unknown): value is StoredCall => {
  const { method, params, client = '' } = (value ?? {}) as Partial<Record<keyof StoredCall, unknown>>
  return [method, params, client].every((member) => typeof member === 'string')
}

/** Reads the call of an entry with a key. @returns `undefined` if it is damaged: another call, or none. */
export const readStoredCall = (
  text: string,
  { chain, isKey }: { readonly chain: string; readonly isKey: (text: string) => boolean },
): StoredCall | undefined => {
  try {
    const call: unknown = JSON.parse(text)
    return isCall(call) && isKey(toEntryText(chain, call)) ? call : undefined
  } catch {
    return undefined
  }
}
