import type { RpcLog } from '@keyrail/core'
import type { Block, Execution } from './block.ts'
import { wireLog } from './block.ts'
import { mayContain } from './bloom.ts'

/** The logs that a filter selects. All hex is in lower case. */
export interface LogCriteria {
  /** Any of these addresses. An empty list matches all. */
  readonly addresses: readonly string[]
  /** For each position, any of these topics. An empty list matches all. */
  readonly topics: readonly (readonly string[])[]
}

/** Calls a function for each matching log of a block, in order. */
function eachMatch(
  block: Block,
  { addresses, topics }: LogCriteria,
  found: (execution: Execution, index: number, at: number) => void,
): void {
  const { bloom } = block.header
  const someMay = (wanted: readonly string[]): boolean =>
    wanted.length === 0 || wanted.some((hex) => mayContain(bloom, hex))
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

/** The matching logs of a block. */
export function matchLogs(block: Block, criteria: LogCriteria, removed = false): RpcLog[] {
  const logs: RpcLog[] = []
  eachMatch(block, criteria, (_, index, at) => logs.push(wireLog(block, index, at, removed)))
  return logs
}

/** The maximum size of the cache of serialized logs, in characters. */
const maxCached = 32_000_000
let cached = 0
let texts = new WeakMap<Block, readonly string[]>()

/** The logs of a block in JSON, in order. Cached, because clients that follow a chain request the same blocks repeatedly. */
function serializeLogs(block: Block): readonly string[] {
  let known = texts.get(block)
  if (known === undefined) {
    known = block.executions.flatMap(({ logs }, index) =>
      logs.map((_, at) => JSON.stringify(wireLog(block, index, at))),
    )
    cached += known.reduce((sum, { length }) => sum + length, 0)
    if (cached > maxCached) {
      texts = new WeakMap()
      cached = 0
    }
    texts.set(block, known)
  }
  return known
}

/** Appends the matching logs of a block, each in JSON, to `found`. */
export function matchLogTexts(block: Block, criteria: LogCriteria, found: string[]): void {
  let all: readonly string[] | undefined
  eachMatch(block, criteria, ({ firstLog }, _, at) => {
    all ??= serializeLogs(block)
    found.push(all[firstLog + at] as string)
  })
}
