import type { ParquetWriteOptions } from 'hyparquet-writer'
import type { AbiParameter, AbiType, AbiValue } from '../abi/abiType.ts'
import { decodeLog, getParameterNames, isHashed } from './decodedFormat.ts'
import { parseEvent } from './toEventTopic.ts'

/** A log as a line of NDJSON contains it. */
export interface LogLine {
  readonly blockNumber: number
  readonly blockHash: string
  readonly blockTimestamp: number | null
  readonly transactionHash: string
  readonly transactionIndex: number
  readonly logIndex: number
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** The columns of a Parquet file. They and their types are those of `to_parquet` of the Python package. */
export interface ParquetColumns {
  /** The schema: the root, then each column followed by its children. */
  readonly schema: SchemaElement[]
  readonly names: readonly string[]
  /** Whether a row is of a log of the decoded event with a parameter that could not be decoded. */
  readonly isUndecoded: (row: Record<string, unknown>) => boolean
  /** Converts a log to the values by column; undefined if it is not of the decoded event. */
  readonly toRow: (log: LogLine) => Record<string, unknown> | undefined
}

type SchemaElement = NonNullable<ParquetWriteOptions['schema']>[number]
type Type = Omit<SchemaElement, 'name'>
const integer: Type = { type: 'INT64' }
const text: Type = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }

const commonTypes: Readonly<Record<string, Type>> = {
  blockNumber: integer,
  blockHash: text,
  blockTimestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  transactionHash: text,
  transactionIndex: integer,
  logIndex: integer,
  address: text,
}
/** The data of a log of the event with a parameter that cannot be decoded, as hex; null for other logs. */
const undecodedName = 'undecodedData'
const rawNames = ['topic0', 'topic1', 'topic2', 'topic3', 'data']

const toCommonCells = (log: LogLine): Record<string, unknown> => ({
  blockNumber: BigInt(log.blockNumber),
  blockHash: log.blockHash,
  blockTimestamp: log.blockTimestamp === null ? null : BigInt(log.blockTimestamp) * 1_000n,
  transactionHash: log.transactionHash,
  transactionIndex: BigInt(log.transactionIndex),
  logIndex: BigInt(log.logIndex),
  address: log.address,
})

/** Every column can be null, as in the files of pyarrow. */
const toElement = (name: string, type: Type): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...type })

/** Larger integers are text: uint256 has up to 78 digits, and Parquet readers support 38 (Spark, DuckDB) or 76 (Arrow). */
const isSmallInteger = (type: AbiType): boolean => (type.kind === 'uint' || type.kind === 'int') && type.bits <= 64

/** Converts a type of the ABI to the elements of a column. */
function toElements(name: string, type: AbiType): SchemaElement[] {
  switch (type.kind) {
    case 'array':
      return [
        toElement(name, { converted_type: 'LIST', num_children: 1 }),
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...toElements('element', type.item),
      ]
    case 'tuple': {
      const names = getParameterNames(type.members)
      return [
        toElement(name, { num_children: names.length }),
        ...type.members.flatMap((member, index) => toElements(names[index] as string, member.type)),
      ]
    }
    case 'bool':
      return [toElement(name, { type: 'BOOLEAN' })]
    case 'uint':
    case 'int':
      if (!isSmallInteger(type)) return [toElement(name, text)]
      return [
        toElement(name, type.kind === 'uint' && type.bits === 64 ? { ...integer, converted_type: 'UINT_64' } : integer),
      ]
    case 'address':
    case 'bytes':
    case 'string':
      return [toElement(name, text)]
  }
}

function toCell(type: AbiType, value: AbiValue): unknown {
  if (typeof value === 'bigint') return isSmallInteger(type) ? value : value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (type.kind === 'array') return value.map((item) => toCell(type.item, item))
  const members = (type as Extract<AbiType, { kind: 'tuple' }>).members
  const names = getParameterNames(members)
  return Object.fromEntries(
    members.map((member, index) => [names[index], toCell(member.type, value[index] as AbiValue)]),
  )
}

const toRoot = (columns: number): SchemaElement => ({ name: 'schema', num_children: columns })

function createRawColumns(): ParquetColumns {
  const names = [...Object.keys(commonTypes), ...rawNames]
  return {
    schema: [toRoot(names.length), ...names.map((name) => toElement(name, commonTypes[name] ?? text))],
    names,
    isUndecoded: () => false,
    toRow: (log) => {
      const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics
      return { ...toCommonCells(log), topic0, topic1, topic2, topic3, data: log.data }
    },
  }
}

function createDecodedColumns(parameters: readonly AbiParameter[]): ParquetColumns {
  const commonNames = Object.keys(commonTypes)
  const taken = [...commonNames, undecodedName]
  const names = getParameterNames(parameters).map((name) => (taken.includes(name) ? `arg_${name}` : name))
  // Of an indexed list, tuple or text, a log contains only the hash.
  const types = parameters.map((parameter): AbiType =>
    parameter.indexed && isHashed(parameter) ? { kind: 'string' } : parameter.type,
  )
  return {
    schema: [
      toRoot(taken.length + names.length),
      ...Object.entries(commonTypes).map(([name, type]) => toElement(name, type)),
      ...types.flatMap((type, index) => toElements(names[index] as string, type)),
      toElement(undecodedName, text),
    ],
    names: [...commonNames, ...names, undecodedName],
    isUndecoded: (row) => row[undecodedName] !== null,
    toRow: (log) => {
      const decoded = decodeLog(parameters, log)
      if (decoded === undefined) return undefined
      const { values, undecoded } = decoded
      const cells = types.map((type, index) => [names[index], toCell(type, values[index] as AbiValue)])
      return { ...toCommonCells(log), ...Object.fromEntries(cells), [undecodedName]: undecoded ? log.data : null }
    },
  }
}

/**
 * Creates the columns of an export: topics and data, or the parameters of an event.
 *
 * @param decode - The event to decode; undefined for topics and data.
 */
export const createParquetColumns = (decode: string | undefined): ParquetColumns =>
  decode === undefined ? createRawColumns() : createDecodedColumns(parseEvent(decode).inputs)
