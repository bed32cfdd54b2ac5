import type { Log } from '@keyrail/core'
import type { Block } from './block.ts'
import { wireLog } from './block.ts'
import { mayHold } from './bloom.ts'

/** Which logs are wanted. All in lower case. */
export interface LogCriteria {
  /** Any of these; all where there is none. */
  readonly addresses: readonly string[]
  /** By place: any of these, or anything where there is none. */
  readonly topics: readonly (readonly string[])[]
}

/** The logs of a block that are wanted, in their order. */
export function matchLogs(block: Block, { addresses, topics }: LogCriteria, removed = false): Log[] {
  const { bloom } = block.header
  const someMay = (wanted: readonly string[]): boolean =>
    wanted.length === 0 || wanted.some((hex) => mayHold(bloom, hex))
  if (!someMay(addresses) || !topics.every(someMay)) return []
  const found: Log[] = []
  for (const [index, { logs }] of block.executions.entries()) {
    for (const [at, log] of logs.entries()) {
      if (addresses.length > 0 && !addresses.includes(log.address)) continue
      if (log.topics.length < topics.length) continue
      if (!topics.every((any, place) => any.length === 0 || any.includes(log.topics[place] as string))) continue
      found.push(wireLog(block, index, at, removed))
    }
  }
  return found
}
