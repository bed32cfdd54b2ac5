import type { Address, Hash } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { lower } from '../bytes/hex.ts'

/** A log as a contract emits it, before it is in a block. */
export interface LogEntry {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Bytes
}

/** The size of the cache of strings. */
const maxCached = 4_096
const known = new Map<string, string>()

/** Returns the same string object for equal strings, so that a topic of a hundred thousand logs is in memory once. */
function intern<T extends string>(text: T): T {
  const found = known.get(text) as T | undefined
  if (found !== undefined) return found
  if (known.size >= maxCached) known.clear()
  known.set(text, text)
  return text
}

/** A log with all hex in lower case. */
export function normalizeLog({ address, topics, data }: LogEntry): LogEntry {
  return { address: intern(address), topics: topics.map((topic) => intern(lower(topic))), data: lower(data) }
}
