import { randomBytes } from 'node:crypto'
import type { BlockRange } from '../blockRanges.ts'
import type { EntryRow, SpanRow } from '../chainFile.ts'
import type { ChainRows, RangeRows, SourceRows, UnconfirmedRow, ValueRows } from '../chainRows.ts'
import { toStamp } from './createChainStates.ts'
import type { ChainState } from './createChainStates.ts'
import { toRowSource, toSourceId, toKey } from './redisRow.ts'
import type { RowSource, StoredEntry, StoredRow } from './redisRow.ts'

/** What Redis has of an atom, as it was loaded, and what a decision has changed. */
interface LoadedAtom {
  readonly f: Uint8Array
  readonly spans: Map<number, Placed<SpanRow>>
  readonly unconfirmed: Map<number, Placed<UnconfirmedRow>>
  /** Rows that must still be there. */
  readonly removed: string[]
  /** Rows that are not valid any more, or whose logs are gone. */
  readonly voided: string[]
  readonly values: Map<number, Uint8Array>
  readonly sizes: Map<number, number>
  readonly addedValues: Map<number, Uint8Array>
  readonly deletedValues: number[]
}

/** What has changed of an atom. */
export interface AtomChange extends Pick<LoadedAtom, 'f' | 'removed' | 'voided' | 'addedValues' | 'deletedValues'> {
  readonly added: readonly StoredRow[]
}

/** A row, and the text that Redis has of it; `undefined` if it has none yet. */
interface Placed<Row> {
  readonly row: Row
  readonly text: string | undefined
}

/** A copy of what Redis has of some atoms and entries, for one decision. */
export interface LoadedRows extends ChainRows {
  /** Adds a span or a range. @param text - What Redis has, if that is the same. */
  readonly load: (
    row: SpanRow | UnconfirmedRow,
    of: { readonly stored: StoredRow; readonly text: string | undefined },
  ) => void
  readonly loadValue: (f: Uint8Array, value: number, bytes: Uint8Array) => void
  /** Adds a row that is not valid any more: it makes room for new ones. */
  readonly loadVoid: (f: Uint8Array, text: string) => void
  readonly loadEntry: (id: Uint8Array, row: EntryRow, source: RowSource) => void
  readonly getChanges: () => readonly AtomChange[]
  /** Gets an entry that has to be written; `undefined` if it has to be deleted. */
  readonly getChangedEntries: () => readonly (readonly [id: Buffer, entry: StoredEntry | undefined])[]
}

const createAtom = (f: Uint8Array): LoadedAtom => ({
  f,
  spans: new Map(),
  unconfirmed: new Map(),
  removed: [],
  voided: [],
  values: new Map(),
  sizes: new Map(),
  addedValues: new Map(),
  deletedValues: [],
})

const toHex = (key: Uint8Array): string => Buffer.from(key).toString('hex')

/** Gets an atom, which is added if it is new. */
type GetAtom = (f: Uint8Array) => LoadedAtom

const createRangeRows = <Row extends SpanRow | UnconfirmedRow>(
  getAtom: GetAtom,
  getRows: (atom: LoadedAtom) => Map<number, Placed<Row>>,
): RangeRows<Row> => ({
  select: (f, { first, last }) => {
    const from = [...getRows(getAtom(f)).values()]
      .map(({ row }) => row)
      .filter((row) => row.last >= first)
      .toSorted((one, other) => one.last - other.last)
    const after = from.findIndex((row) => row.last >= last)
    return after < 0 ? from : from.slice(0, after + 1)
  },
  insert: (row) => void getRows(getAtom(row.f)).set(row.last, { row, text: undefined }),
  delete: (f, last) => {
    const atom = getAtom(f)
    const text = getRows(atom).get(last)?.text
    if (text !== undefined) atom.removed.push(text)
    getRows(atom).delete(last)
  },
})

const createValueRows = (getAtom: GetAtom): ValueRows => ({
  get: (f, id) => getAtom(f).values.get(id),
  insert: (f, value) => {
    const { values, addedValues, sizes } = getAtom(f)
    const id = randomBytes(6).readUIntBE(0, 6) + 1
    values.set(id, value)
    addedValues.set(id, value)
    sizes.set(id, value.length)
    return id
  },
  delete: (f, id) => {
    const { addedValues, deletedValues } = getAtom(f)
    if (!addedValues.delete(id)) deletedValues.push(id)
  },
})

const unknownSource: RowSource = { node: '', name: '', group: '' }

/** The nodes of rows, by their ids. */
const createSources = (chain: string, state: ChainState | undefined) => {
  const byId = new Map<number, RowSource>()
  let answerer: number | undefined
  const rows: SourceRows = {
    add: (answer) => {
      const source = toRowSource(answer)
      answerer = toSourceId(source)
      byId.set(answerer, source)
      return answerer
    },
    getName: (id) => byId.get(id)?.name ?? '',
    isOfOtherGroup: (id, group) => {
      const other = byId.get(id)?.group
      // The group of a node may be another one now.
      return id !== answerer && other !== undefined && other !== toRowSource({ chain, upstream: '', group }).group
    },
    isOutdated: ({ revision = state?.revision }) => state === undefined || revision !== state.revision,
  }
  return {
    rows,
    get: (id: number): RowSource => byId.get(id) ?? unknownSource,
    set: (id: number, { node, name, group }: RowSource): void => void byId.set(id, { node, name, group }),
  }
}

/** Creates rows in memory, which a decision reads and changes. */
export const createLoadedRows = (chain: string, state: ChainState | undefined): LoadedRows => {
  const atoms = new Map<string, LoadedAtom>()
  const entries = new Map<string, EntryRow>()
  const changedEntries = new Map<string, StoredEntry | undefined>()
  const sources = createSources(chain, state)
  const stamp = state === undefined ? { revision: 0, purges: 0 } : toStamp(state)
  const getAtom: GetAtom = (f) => {
    const atom = atoms.get(toHex(f)) ?? createAtom(f)
    atoms.set(toHex(f), atom)
    return atom
  }
  const toStored = (row: SpanRow | UnconfirmedRow, { sizes }: LoadedAtom): StoredRow => {
    const { first, last, value } = row
    const own = 'at' in row ? { at: row.at, address: row.address, topics: row.topics } : {}
    return { first, last, value, size: sizes.get(value) ?? 0, ...stamp, ...sources.get(row.source), ...own }
  }
  const toChange = (atom: LoadedAtom): AtomChange => {
    const added = [...atom.spans.values(), ...atom.unconfirmed.values()].filter(({ text }) => text === undefined)
    return { ...atom, added: added.map(({ row }) => toStored(row, atom)) }
  }
  return {
    toKey,
    spans: createRangeRows(getAtom, ({ spans }) => spans),
    unconfirmed: createRangeRows(getAtom, ({ unconfirmed }) => unconfirmed),
    values: createValueRows(getAtom),
    entries: {
      get: (id) => entries.get(toHex(id)),
      insert: (id, { source, block, unconfirmed, value }, call) =>
        void changedEntries.set(toHex(id), {
          chain,
          block,
          unconfirmed,
          value,
          call,
          ...stamp,
          ...sources.get(source),
        }),
      delete: (id) => void changedEntries.set(toHex(id), undefined),
    },
    sources: sources.rows,
    load: (row, { stored, text }) => {
      const atom = getAtom(row.f)
      sources.set(row.source, stored)
      if (stored.value !== 0) atom.sizes.set(stored.value, stored.size)
      if ('at' in row) atom.unconfirmed.set(row.last, { row, text })
      else atom.spans.set(row.last, { row, text })
    },
    loadValue: (f, value, bytes) => void getAtom(f).values.set(value, bytes),
    loadVoid: (f, text) => void getAtom(f).voided.push(text),
    loadEntry: (id, row, source) => {
      sources.set(row.source, source)
      entries.set(toHex(id), row)
    },
    getChanges: () =>
      [...atoms.values()]
        .map(toChange)
        // What is not valid is only deleted to make room.
        .filter(({ removed, added }) => removed.length + added.length > 0),
    getChangedEntries: () => [...changedEntries].map(([id, entry]) => [Buffer.from(id, 'hex'), entry] as const),
  }
}

/** A range and the blocks next to it, whose rows may be joined with new ones. */
export const widen = ({ first, last }: BlockRange): BlockRange => ({ first: Math.max(0, first - 1), last: last + 1 })
