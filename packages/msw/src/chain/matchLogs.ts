import type { RpcLog } from '@keyrail/core'
import type { Block, Execution } from './block.ts'
import { wireLog } from './block.ts'
import { mayHold } from './bloom.ts'

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
export function matchLogs(block: Block, criteria: LogCriteria, removed = false): RpcLog[] {
  const logs: RpcLog[] = []
  eachMatch(block, criteria, (_, index, at) => logs.push(wireLog(block, index, at, removed)))
  return logs
}

/** How many characters of JSON are kept, at most. */
const mostKept = 32_000_000
let kept = 0
let texts = new WeakMap<Block, readonly string[]>()

/** The logs of a block in JSON, in their order. Who follows a chain asks for the same blocks again and again, so they are kept for a while. */
function textsOf(block: Block): readonly string[] {
  let known = texts.get(block)
  if (known === undefined) {
    known = block.executions.flatMap(({ logs }, index) =>
      logs.map((_, at) => JSON.stringify(wireLog(block, index, at))),
    )
    kept += known.reduce((sum, { length }) => sum + length, 0)
    if (kept > mostKept) {
      texts = new WeakMap()
      kept = 0
    }
    texts.set(block, known)
  }
  return known
}

/** The logs of a block that are wanted, each in JSON, added to others. */
export function matchLogTexts(block: Block, criteria: LogCriteria, found: string[]): void {
  let all: readonly string[] | undefined
  eachMatch(block, criteria, ({ firstLog }, _, at) => {
    all ??= textsOf(block)
    found.push(all[firstLog + at] as string)
  })
}
