import type { Network } from '../../lib/network.ts'
import { networkNames } from '../../lib/network.ts'

/** How many items of one method, network and outcome there were, and how long they took. */
export interface UsageCell {
  total: number
  /** The latency buckets that they fell into: bucket, count, bucket, count, … As few as they mostly are, a list is smaller and quicker than a table. */
  readonly latencies: number[]
}

/** Counts by method, network and outcome. */
export interface UsageCounts {
  readonly cells: readonly [Map<string, Map<string, UsageCell>>, Map<string, Map<string, UsageCell>>]
}

/** The place of a network in `cells`, and in what is stored. */
export const networkIndex = (network: Network): 0 | 1 => (network === networkNames[0] ? 0 : 1)

/** Counts of nothing. */
export const createUsageCounts = (): UsageCounts => ({ cells: [new Map(), new Map()] })

/** The cell of a method, network and outcome, made where it is not there. */
export const cellOf = ({ cells }: UsageCounts, network: 0 | 1, method: string, outcome: string): UsageCell => {
  let outcomes = cells[network].get(method)
  if (outcomes === undefined) cells[network].set(method, (outcomes = new Map()))
  let cell = outcomes.get(outcome)
  if (cell === undefined) outcomes.set(outcome, (cell = { total: 0, latencies: [] }))
  return cell
}

/** Adds to a cell's latency bucket. */
export const addLatency = ({ latencies }: UsageCell, bucket: number, count: number): void => {
  for (let index = 0; index < latencies.length; index += 2)
    if (latencies[index] === bucket) {
      latencies[index + 1] = (latencies[index + 1] ?? 0) + count
      return
    }
  latencies.push(bucket, count)
}

/**
 * Counts as they are stored: `[[method, network, outcome, total, bucket, count, bucket, count, …], …]`. Arrays alone, as names that come from
 * outside are not to be members of an object.
 */
export const packCounts = ({ cells }: UsageCounts): string => {
  let text = ''
  for (const network of [0, 1] as const)
    for (const [method, outcomes] of cells[network])
      for (const [outcome, { total, latencies }] of outcomes)
        text += `${text === '' ? '' : ','}[${JSON.stringify(method)},${network},"${outcome}",${total},${latencies.join(',')}]`
  return `[${text}]`
}

/** One cell as it is stored. */
export type PackedCell = readonly [method: string, network: 0 | 1, outcome: string, total: number, ...number[]]

/** Reads what `packCounts` wrote. */
export const unpackCounts = (text: string): readonly PackedCell[] => JSON.parse(text) as readonly PackedCell[]

/** Adds stored counts to counts. */
export const addPacked = (counts: UsageCounts, text: string): void => {
  for (const packed of unpackCounts(text)) {
    const cell = cellOf(counts, packed[1], packed[0], packed[2])
    cell.total += packed[3]
    for (let index = 4; index < packed.length; index += 2)
      addLatency(cell, packed[index] as number, packed[index + 1] as number)
  }
}

/** How many items there are in all. */
export const totalOf = ({ cells }: UsageCounts): number => {
  let total = 0
  for (const methods of cells)
    for (const outcomes of methods.values()) for (const cell of outcomes.values()) total += cell.total
  return total
}
