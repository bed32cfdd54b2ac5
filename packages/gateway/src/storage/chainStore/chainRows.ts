import type { BlockRange } from './blockRanges.ts'
import type { EntryRow, SpanRow } from './chainFile.ts'
import type { StoredCall } from './storedCall.ts'
import type { AnswerSource } from './answerSource.ts'

/** A range with the logs that one node has found in it. */
export interface UnconfirmedRow extends Omit<SpanRow, 'day'> {
  readonly at: number
  readonly address: string
  readonly topics: string
}

/** Rows of ranges of blocks, by the key of an atom. Those of one key never overlap. */
export interface RangeRows<Row> {
  /** Reads the rows with blocks of a range, and one more at most: the first after it. */
  readonly select: (f: Uint8Array, range: BlockRange) => readonly Row[]
  readonly insert: (row: Row) => void
  readonly delete: (f: Uint8Array, last: number) => void
}

/** The logs of ranges, packed, by an id that is never 0. */
export interface ValueRows {
  readonly get: (f: Uint8Array, id: number) => Uint8Array | undefined
  /** @returns The id. */
  readonly insert: (f: Uint8Array, value: Uint8Array) => number
  readonly delete: (f: Uint8Array, id: number) => void
}

/** Results other than logs. */
export interface EntryRows {
  readonly get: (id: Uint8Array) => EntryRow | undefined
  /** @param call - The call, if another node has to confirm the result. */
  readonly insert: (id: Uint8Array, row: EntryRow, call: StoredCall | undefined) => void
  readonly delete: (id: Uint8Array) => void
}

/** The nodes that sent what is stored. */
export interface SourceRows {
  /** Gets the id of a source, which is added if it is new. */
  readonly add: (source: AnswerSource) => number
  /** Gets the name of an upstream by its id. */
  readonly getName: (id: number) => string
  /** Whether a source is known and its node of another group. */
  readonly isOfOtherGroup: (id: number, group: string) => boolean
  /** Whether blocks of a source's chain were replaced after its node was asked. */
  readonly isOutdated: (source: AnswerSource) => boolean
}

/**
 * What stores the rows of a chain store: an SQLite file, or the copy of what Redis has of some atoms. The tables decide what is in the rows. All functions
 * of one decision are one transaction.
 */
export interface ChainRows {
  /** Gets the key of a text. */
  readonly toKey: (text: string) => Buffer
  readonly spans: RangeRows<SpanRow>
  readonly unconfirmed: RangeRows<UnconfirmedRow>
  readonly values: ValueRows
  readonly entries: EntryRows
  readonly sources: SourceRows
}
