import type { Address, Bytes, Hash } from '@keyrail/core'
import { lower } from '../bytes/hex.ts'

/** A log as a contract emits it, without its place in a block. */
export interface LogEntry {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Bytes
}

/** How many strings are remembered. */
const most = 4_096
const known = new Map<string, string>()

/** The same string for the same text, so that a topic which comes a hundred thousand times takes room once. */
function once<T extends string>(text: T): T {
  const found = known.get(text) as T | undefined
  if (found !== undefined) return found
  if (known.size >= most) known.clear()
  known.set(text, text)
  return text
}

/** A log as it is kept: in lower case, whoever gave it. */
export function keptLog({ address, topics, data }: LogEntry): LogEntry {
  return { address: once(address), topics: topics.map((topic) => once(lower(topic))), data: lower(data) }
}
