import type { Network } from '../../lib/network.ts'
import { networkNames } from '../../lib/network.ts'

/** The calls of one method, network and outcome, and their latencies. */
export interface UsageCell {
  total: number
  /** Pairs of latency bucket and count: bucket, count, bucket, count, … There are few, so that a list is smaller and faster than a map. */
  readonly latencies: number[]
}

/** Counts by method, network and outcome. */
export interface UsageCounts {
  readonly cells: readonly [Map<string, Map<string, UsageCell>>, Map<string, Map<string, UsageCell>>]
}

/** Returns the index of a network in `cells` and in stored counts. */
export const networkIndex = (network: Network): 0 | 1 => (network === networkNames[0] ? 0 : 1)

/** Creates empty counts. */
export const createUsageCounts = (): UsageCounts => ({ cells: [new Map(), new Map()] })

/** Returns the cell of a method, network and outcome; creates it if there is none. */
export const getCell = ({ cells }: UsageCounts, network: 0 | 1, method: string, outcome: string): UsageCell => {
  let outcomes = cells[network].get(method)
  if (outcomes === undefined) cells[network].set(method, (outcomes = new Map()))
  let cell = outcomes.get(outcome)
  if (cell === undefined) outcomes.set(outcome, (cell = { total: 0, latencies: [] }))
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
 * Serializes counts for the database: `[[method, network, outcome, total, bucket, count, bucket, count, …], …]`. Only arrays, because names
 * that callers choose must not become members of an object.
 */
export const packCounts = ({ cells }: UsageCounts): string => {
  let text = ''
  for (const network of [0, 1] as const)
    for (const [method, outcomes] of cells[network])
      for (const [outcome, { total, latencies }] of outcomes)
        text += `${text === '' ? '' : ','}[${JSON.stringify(method)},${network},"${outcome}",${total},${latencies.join(',')}]`
  return `[${text}]`
}

/** A serialized cell. */
export type PackedCell = readonly [method: string, network: 0 | 1, outcome: string, total: number, ...number[]]

const isPackedCell = (cell: unknown): cell is PackedCell =>
  Array.isArray(cell) &&
  cell.length % 2 === 0 &&
  typeof cell[0] === 'string' &&
  (cell[1] === 0 || cell[1] === 1) &&
  typeof cell[2] === 'string' &&
  cell.every((value, index) => index < 3 || (Number.isSafeInteger(value) && value >= 0))

/** Parses the output of `packCounts`. @returns `undefined` if the text is anything else. */
export const unpackCounts = (text: string): readonly PackedCell[] | undefined => {
  let cells: unknown
  try {
    cells = JSON.parse(text)
  } catch {
    return undefined
  }
  return Array.isArray(cells) && cells.every(isPackedCell) ? cells : undefined
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
  for (const methods of cells)
    for (const outcomes of methods.values()) for (const cell of outcomes.values()) total += cell.total
  return total
}
