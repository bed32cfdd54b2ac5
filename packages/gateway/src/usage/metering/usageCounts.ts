import type { Network } from '../../lib/network.ts'

/** The calls of one method, network and outcome, and their latencies. */
export interface UsageCell {
  total: number
  /** What they were charged. */
  units: number
  /** The bytes of their results. */
  bytes: number
  /** How many of them had their result in the chain store. */
  stored: number
  /** Pairs of latency bucket and count: bucket, count, bucket, count, … There are few, so that a list is smaller and faster than a map. */
  readonly latencies: number[]
}

/** Counts by network, method and outcome. */
export interface UsageCounts {
  readonly cells: Map<Network, Map<string, Map<string, UsageCell>>>
}

/** Creates empty counts. */
export const createUsageCounts = (): UsageCounts => ({ cells: new Map() })

/** Returns the cell of a method, network and outcome; creates it if there is none. */
export const getCell = ({ cells }: UsageCounts, network: Network, method: string, outcome: string): UsageCell => {
  let methods = cells.get(network)
  if (methods === undefined) cells.set(network, (methods = new Map()))
  let outcomes = methods.get(method)
  if (outcomes === undefined) methods.set(method, (outcomes = new Map()))
  let cell = outcomes.get(outcome)
  if (cell === undefined) outcomes.set(outcome, (cell = { total: 0, units: 0, bytes: 0, stored: 0, latencies: [] }))
  return cell
}

/** Adds to a latency bucket of a cell. */
export const addLatency = ({ latencies }: UsageCell, bucket: number, count: number): void => {
  for (let index = 0; index < latencies.length; index += 2)
    if (latencies[index] === bucket) {
      latencies[index + 1] = (latencies[index + 1] ?? 0) + count
      return
    }
  latencies.push(bucket, count)
}

/** Serializes cells. Only arrays, because names that callers choose must not become members of an object. */
const pack = ({ cells }: UsageCounts, getNumbers: (cell: UsageCell) => readonly number[] | undefined): string => {
  let text = ''
  for (const [network, methods] of cells)
    for (const [method, outcomes] of methods)
      for (const [outcome, cell] of outcomes) {
        const numbers = getNumbers(cell)
        if (numbers === undefined) continue
        text += `${text === '' ? '' : ','}[${JSON.stringify(method)},"${network}","${outcome}",${numbers.join(',')}]`
      }
  return `[${text}]`
}

/** Serializes counts for the database: `[[method, network, outcome, total, bucket, count, bucket, count, …], …]`. */
export const packCounts = (counts: UsageCounts): string => pack(counts, ({ total, latencies }) => [total, ...latencies])

/**
 * Serializes the units and bytes of counts: `[[method, network, outcome, units, bytes], …]`. They have a column of their own, because instances of
 * versions that have no units read the counts too.
 */
export const packUse = (counts: UsageCounts): string =>
  pack(counts, ({ units, bytes }) => (units === 0 && bytes === 0 ? undefined : [units, bytes]))

/** Serializes how many calls had their result in the chain store, as `packCounts` does without latencies. */
export const packStored = (counts: UsageCounts): string =>
  pack(counts, ({ stored }) => (stored === 0 ? undefined : [stored]))

/** A serialized cell of counts. */
export type PackedCell = readonly [method: string, network: Network, outcome: string, total: number, ...number[]]

/** A serialized cell of units and bytes. */
export type PackedUse = readonly [method: string, network: Network, outcome: string, units: number, bytes: number]

/** Before networks had any name, counts had the index of one of these. */
const firstNetworks: readonly Network[] = ['testnet', 'mainnet']

const toPackedCell = (cell: unknown): unknown =>
  Array.isArray(cell) && typeof cell[1] === 'number' ? cell.with(1, firstNetworks[cell[1]]) : cell

const isPacked = (cell: unknown): cell is PackedCell =>
  Array.isArray(cell) &&
  typeof cell[0] === 'string' &&
  typeof cell[1] === 'string' &&
  typeof cell[2] === 'string' &&
  cell.every((value, index) => index < 3 || (Number.isSafeInteger(value) && value >= 0))

const isPackedCell = (cell: unknown): cell is PackedCell => isPacked(cell) && cell.length % 2 === 0

const isPackedUse = (cell: unknown): cell is PackedUse => isPacked(cell) && cell.length === 5

const unpack = <Cell>(text: string, isCell: (cell: unknown) => cell is Cell): readonly Cell[] | undefined => {
  let cells: unknown
  try {
    cells = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(cells)) return undefined
  const packed = cells.map(toPackedCell)
  return packed.every(isCell) ? packed : undefined
}

/** Parses the output of `packCounts` or `packStored`. @returns `undefined` if the text is anything else. */
export const unpackCounts = (text: string): readonly PackedCell[] | undefined => unpack(text, isPackedCell)

/** Parses the output of `packUse`. @returns `undefined` if the text is anything else. */
export const unpackUse = (text: string): readonly PackedUse[] | undefined => unpack(text, isPackedUse)

/** Adds parsed units and bytes. */
export const addUse = (counts: UsageCounts, cells: readonly PackedUse[]): void => {
  for (const [method, network, outcome, units, bytes] of cells) {
    const cell = getCell(counts, network, method, outcome)
    cell.units += units
    cell.bytes += bytes
  }
}

/** Adds parsed counts of calls whose result was in the chain store. */
export const addStored = (counts: UsageCounts, cells: readonly PackedCell[]): void => {
  for (const [method, network, outcome, stored] of cells) getCell(counts, network, method, outcome).stored += stored
}

/** Adds parsed counts. */
export const addPacked = (counts: UsageCounts, cells: readonly PackedCell[]): void => {
  for (const packed of cells) {
    const cell = getCell(counts, packed[1], packed[0], packed[2])
    cell.total += packed[3]
    for (let index = 4; index < packed.length; index += 2)
      addLatency(cell, packed[index] as number, packed[index + 1] as number)
  }
}

/** Returns the total of all cells. */
export const getTotal = ({ cells }: UsageCounts): number => {
  let total = 0
  for (const methods of cells.values())
    for (const outcomes of methods.values()) for (const cell of outcomes.values()) total += cell.total
  return total
}
