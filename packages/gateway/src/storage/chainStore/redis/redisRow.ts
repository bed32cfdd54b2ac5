import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { toRowCrc } from '../chainFile.ts'
import type { EntryRow, SpanRow } from '../chainFile.ts'
import type { UnconfirmedRow } from '../chainRows.ts'
import type { StoredCall } from '../storedCall.ts'
import type { AnswerSource } from '../answerSource.ts'
import { getValidTo } from './createChainStates.ts'
import type { ChainState, RowStamp } from './createChainStates.ts'

/** The node that a row is from. It is in the row, because Redis may delete any other key. */
export interface RowSource {
  readonly node: string
  readonly name: string
  readonly group: string
}

/** A row as it is in Redis. `at`, `address` and `topics` are those of a range that is not confirmed. */
export interface StoredRow extends RowStamp, RowSource, Pick<SpanRow, 'first' | 'last' | 'value'> {
  /** How many bytes its logs have. */
  readonly size: number
  readonly at?: number
  readonly address?: string
  readonly topics?: string
}

/** Gets the key of a text, which nobody outside can compute: the epoch of the chain in it is random. */
export const toKey = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, 16)

const toShort = (text: string): string => toKey(text).subarray(0, 12).toString('base64url')

/** Gets the keys of Redis for an atom: one slot of a cluster has all of them. */
export const toRowsKey = (f: Uint8Array): string => `kr:cache:{${Buffer.from(f).toString('base64url')}}`
/** Gets the key of the logs of a row. */
export const toValueKey = (f: Uint8Array, value: number): string => `${toRowsKey(f)}:${value.toString(36)}`
/** Gets the key of an entry. */
export const toEntryKey = (id: Uint8Array): string => `kr:cache:${Buffer.from(id).toString('base64url')}`
/** Gets the key of what another node has to confirm. */
export const toQueueKey = (of: 'logs' | 'calls', chain: string, node: string): string =>
  `kr:cache:${of}:${toShort(`${chain} ${node}`)}`

/** Gets what is stored of a node. */
export const toRowSource = ({ upstream, node = upstream, group = '' }: AnswerSource): RowSource => ({
  node: toShort(node),
  name: upstream,
  group: toShort(group),
})

/** Gets the id of a node: the same for all instances. */
export const toSourceId = ({ node }: RowSource): number => toKey(node).readUIntBE(0, 6)

const sign = (key: Uint8Array, text: string): string =>
  `${crc32(text, crc32(key)).toString(16).padStart(8, '0')}${text}`

/** Reads a list with its checksum. */
const readSigned = <List>(key: Uint8Array, text: string): List | undefined => {
  const list = text.slice(8)
  return text === sign(key, list) ? (JSON.parse(list) as List) : undefined
}

/** A row as a list of its members. */
type RowList = readonly [
  ...(readonly [number, number, number, number, number, number]),
  ...(readonly [string, string, string, number?, string?, string?]),
]

/** Writes a row as a member of the sorted set of an atom. */
export const writeRow = (f: Uint8Array, row: StoredRow): string => {
  const { first, last, value, size, revision, purges, node, name, group, at, address, topics } = row
  const own = at === undefined ? [] : [at, address, topics]
  return sign(f, JSON.stringify([first, last, value, size, revision, purges, node, name, group, ...own]))
}

/** Reads what `writeRow` wrote. @returns `undefined` if it is damaged. */
export const readRow = (f: Uint8Array, text: string): StoredRow | undefined => {
  const list = readSigned<RowList>(f, text)
  if (list === undefined) return undefined
  const [first, last, value, size, revision, purges, node, name, group, at, address, topics] = list
  const row = { first, last, value, size, revision, purges, node, name, group }
  return at === undefined ? row : { ...row, at, address: address ?? '', topics: topics ?? '' }
}

/** Gets what of a row is still valid: of one without logs, also a part. */
export const toValidRow = (row: StoredRow, state: ChainState): StoredRow | undefined => {
  const validTo = getValidTo(state, row)
  if (row.last <= validTo) return row
  return row.value === 0 && row.first <= validTo ? { ...row, last: validTo } : undefined
}

/** Gets a row as the tables know it. */
export const toSpanRow = (f: Uint8Array, row: StoredRow): SpanRow => {
  const { first, last, value } = row
  const source = toSourceId(row)
  return { f, first, last, value, source, day: Infinity, crc: toRowCrc(f, first, last, value, source) }
}

/** Gets a row as the tables know it. */
export const toUnconfirmedRow = (f: Uint8Array, row: StoredRow): UnconfirmedRow => {
  const { first, last, value, at = 0, address = '', topics = '' } = row
  const source = toSourceId(row)
  const crc = toRowCrc(f, first, last, value, source, at, address, topics)
  return { f, first, last, value, source, at, address, topics, crc }
}

/** An entry as it is in Redis. */
export interface StoredEntry extends RowStamp, RowSource, Pick<EntryRow, 'block' | 'unconfirmed' | 'value'> {
  /** The text of the chain that it is of. */
  readonly chain: string
  /** The call, if another node has to confirm it. */
  readonly call: StoredCall | undefined
}

/** What precedes the value of an entry, as a list of its members. */
type EntryList = readonly [string, number, number, number, number, string, string, string, (StoredCall | null)?]

const headLengthBytes = 4

/** Writes an entry. */
export const writeEntry = (id: Uint8Array, entry: StoredEntry): Buffer => {
  const { chain, block, unconfirmed, revision, purges, node, name, group, call, value } = entry
  const list = [chain, block, unconfirmed, revision, purges, node, name, group, call]
  const head = Buffer.from(sign(id, JSON.stringify(list)))
  const length = Buffer.alloc(headLengthBytes)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, value])
}

/** Reads what `writeEntry` wrote. @returns `undefined` if it is damaged. */
export const readEntry = (id: Uint8Array, bytes: Buffer): StoredEntry | undefined => {
  const end = bytes.length < headLengthBytes ? Infinity : headLengthBytes + bytes.readUInt32LE()
  const list = end > bytes.length ? undefined : readSigned<EntryList>(id, bytes.toString('utf8', headLengthBytes, end))
  if (list === undefined) return undefined
  const [chain, block, unconfirmed, revision, purges, node, name, group, call] = list
  const value = bytes.subarray(end)
  return { chain, block, unconfirmed, revision, purges, node, name, group, call: call ?? undefined, value }
}

/** Gets an entry as the tables know it, if it is still valid. */
export const toEntryRow = (entry: StoredEntry, state: ChainState): EntryRow | undefined => {
  const { block, unconfirmed, value } = entry
  return block > getValidTo(state, entry)
    ? undefined
    : { source: toSourceId(entry), block, unconfirmed, day: Infinity, value }
}
