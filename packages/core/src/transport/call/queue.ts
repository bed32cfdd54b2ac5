/** An entry of a queue. Create it with both neighbours set to undefined, so that its shape never changes. */
export interface QueueEntry {
  before?: QueueEntry | undefined
  after?: QueueEntry | undefined
}

/** A queue, first come, first served. Entering and leaving take constant time, at any position. */
export interface Queue<E extends QueueEntry> {
  readonly first: () => E | undefined
  /** All entries, from the first to the last. */
  readonly all: () => E[]
  readonly enter: (entry: E) => void
  readonly leave: (entry: E) => void
}

/** A collection of the calls in flight, without an order. */
export type Holder<E extends QueueEntry> = Pick<Queue<E>, 'enter' | 'leave' | 'all'>

/** Removes an entry from its queue. */
export function leaveQueue(entry: QueueEntry): void {
  ;(entry.before as QueueEntry).after = entry.after as QueueEntry
  ;(entry.after as QueueEntry).before = entry.before as QueueEntry
  // An entry in the old generation would keep its neighbours alive, and everything that they reference.
  entry.before = entry.after = undefined
}

/** Creates an empty queue: a ring of entries, one of which is never used. */
export function createQueue<E extends QueueEntry>(): Queue<E> {
  const end: QueueEntry = {}
  end.before = end.after = end
  return {
    first: () => (end.after === end ? undefined : (end.after as E)),
    all: () => {
      const entries: E[] = []
      for (let entry = end.after; entry !== end; entry = entry?.after) entries.push(entry as E)
      return entries
    },
    enter: (entry) => {
      entry.before = end.before as QueueEntry
      entry.after = end
      entry.before.after = end.before = entry
    },
    leave: leaveQueue,
  }
}
