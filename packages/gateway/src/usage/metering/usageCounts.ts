import type { Network } from '../../lib/network.ts'

/** The calls of one method, network and outcome, and their latencies. */
export interface UsageCell {
  total: number
  /** What they were charged. */
  units: number
  /** The bytes of their results. */
  bytes: number
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
  if (cell === undefined) outcomes.set(outcome, (cell = { total: 0, units: 0, bytes: 0, latencies: [] }))
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

/**
 * Serializes counts for the database: `[[method, network, outcome, total, bucket, count, bucket, count, …], …]`, with `[total, units, bytes]` in place
 * of `total` if there are any. Only arrays, because names that callers choose must not become members of an object.
 */
export const packCounts = ({ cells }: UsageCounts): string => {
  let text = ''
  for (const [network, methods] of cells)
    for (const [method, outcomes] of methods)
      for (const [outcome, { total, units, bytes, latencies }] of outcomes) {
        const sums = units === 0 && bytes === 0 ? total : `[${total},${units},${bytes}]`
        text += `${text === '' ? '' : ','}[${JSON.stringify(method)},"${network}","${outcome}",${[sums, ...latencies].join(',')}]`
      }
  return `[${text}]`
}

/** The sums of a serialized cell: its calls, or its calls, units and bytes. */
type PackedSums = number | readonly [total: number, units: number, bytes: number]

/** A serialized cell. */
export type PackedCell = readonly [method: string, network: Network, outcome: string, sums: PackedSums, ...number[]]

/** Reads the sums of a serialized cell. */
export const readSums = (sums: PackedSums): Pick<UsageCell, 'total' | 'units' | 'bytes'> => {
  const [total, units, bytes] = typeof sums === 'number' ? [sums, 0, 0] : sums
  return { total, units, bytes }
}

/** Before networks had any name, counts had the index of one of these. */
const firstNetworks: readonly Network[] = ['testnet', 'mainnet']

const toPackedCell = (cell: unknown): unknown =>
  Array.isArray(cell) && typeof cell[1] === 'number' ? cell.with(1, firstNetworks[cell[1]]) : cell

const isPackedCell = (cell: unknown): cell is PackedCell =>
  Array.isArray(cell) &&
  cell.length % 2 === 0 &&
  typeof cell[0] === 'string' &&
  typeof cell[1] === 'string' &&
  typeof cell[2] === 'string' &&
  cell.every((value, index) => index < 3 || isCount(value) || (index === 3 && isCounts(value)))

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const isCounts = (value: unknown): boolean => Array.isArray(value) && value.length === 3 && value.every(isCount)

/** Parses the output of `packCounts`. @returns `undefined` if the text is anything else. */
export const unpackCounts = (text: string): readonly PackedCell[] | undefined => {
  let cells: unknown
  try {
    cells = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(cells)) return undefined
  const packed = cells.map(toPackedCell)
  return packed.every(isPackedCell) ? packed : undefined
}

/** Adds parsed counts. */
export const addPacked = (counts: UsageCounts, cells: readonly PackedCell[]): void => {
  for (const packed of cells) {
    const cell = getCell(counts, packed[1], packed[0], packed[2])
    const { total, units, bytes } = readSums(packed[3])
    cell.total += total
    cell.units += units
    cell.bytes += bytes
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
