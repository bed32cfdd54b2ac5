import { monotonicClock } from '../../lib/clock.ts'

/** Remembers which upstream took a key's last write. */
export interface LastWriters<Member> {
  /** Call this when an upstream took a write. */
  readonly set: (keyId: string, member: Member) => void
  /** The upstream that took the key's last write, if that is recent; else `undefined`. */
  readonly get: (keyId: string) => Member | undefined
}

/** Longer than a transaction needs to reach other nodes, and than most block times. */
export const readOwnWritesMs = 15_000
/** One more forgets the oldest. */
const maxKeys = 10_000

/**
 * Creates the memory of who took the last writes. A key's reads go to the node that took its last write for 15 seconds, because other nodes
 * may not have the transaction yet.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createLastWriters = <Member>({
  now = monotonicClock(),
}: { now?: () => number } = {}): LastWriters<Member> => {
  const writers = new Map<string, { readonly member: Member; readonly until: number }>()
  return {
    set: (keyId, member) => {
      // Last in the Map, whose order is that of insertion.
      writers.delete(keyId)
      writers.set(keyId, { member, until: now() + readOwnWritesMs })
      if (writers.size <= maxKeys) return
      const [oldest] = writers.keys()
      if (oldest !== undefined) writers.delete(oldest)
    },
    get: (keyId) => {
      if (writers.size === 0) return undefined
      const writer = writers.get(keyId)
      if (writer === undefined) return undefined
      if (now() < writer.until) return writer.member
      writers.delete(keyId)
      return undefined
    },
  }
}
