import type { Log } from '@keyrail/core'
import { quantity } from '../bytes/hex.ts'
import type { Block, Execution } from './block.ts'
import { wireLog } from './block.ts'
import { mayHold } from './bloom.ts'
import type { LogEntry } from './logEntry.ts'

/** Which logs are wanted. All in lower case. */
export interface LogCriteria {
  /** Any of these; all where there is none. */
  readonly addresses: readonly string[]
  /** By place: any of these, or anything where there is none. */
  readonly topics: readonly (readonly string[])[]
}

/** Goes through the logs of a block that are wanted, in their order. */
function eachMatch(
  block: Block,
  { addresses, topics }: LogCriteria,
  found: (execution: Execution, index: number, at: number) => void,
): void {
  const { bloom } = block.header
  const someMay = (wanted: readonly string[]): boolean =>
    wanted.length === 0 || wanted.some((hex) => mayHold(bloom, hex))
  if (block.executions.length === 0 || !someMay(addresses) || !topics.every(someMay)) return
  for (const [index, execution] of block.executions.entries()) {
    for (const [at, log] of execution.logs.entries()) {
      if (addresses.length > 0 && !addresses.includes(log.address)) continue
      if (log.topics.length < topics.length) continue
      if (!topics.every((any, place) => any.length === 0 || any.includes(log.topics[place] as string))) continue
      found(execution, index, at)
    }
  }
}

/** The logs of a block that are wanted. */
export function matchLogs(block: Block, criteria: LogCriteria, removed = false): Log[] {
  const logs: Log[] = []
  eachMatch(block, criteria, (_, index, at) => logs.push(wireLog(block, index, at, removed)))
  return logs
}

/** The same, each log in JSON. All that stands in one is hex or a whole number, so nothing needs to be escaped. */
export function matchLogTexts(block: Block, criteria: LogCriteria, texts: string[]): void {
  const { hash, number, header } = block
  const place = `"blockHash":"${hash}","blockNumber":"${quantity(number)}","blockTimestamp":"${quantity(header.timestamp)}","removed":false`
  eachMatch(block, criteria, ({ tx, logs, firstLog }, index, at) => {
    const { address, topics, data } = logs[at] as LogEntry
    const named = topics.length === 0 ? '' : `"${topics.join('","')}"`
    texts.push(
      `{"address":"${address}","topics":[${named}],"data":"${data}",${place},"transactionHash":"${tx.hash}","transactionIndex":"${quantity(index)}","logIndex":"${quantity(firstLog + at)}"}`,
    )
  })
}
