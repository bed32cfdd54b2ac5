/** Something that stands in a lane. To make it with both neighbours undefined keeps it in one piece. */
export interface QueueEntry {
  before?: QueueEntry | undefined
  after?: QueueEntry | undefined
}

/** A line to wait in, first come, first served. Entering and leaving cost the same however long it is, wherever one stands. */
export interface Queue<P extends QueueEntry> {
  readonly first: () => P | undefined
  /** All who stand in it now, from the first to the last. */
  readonly all: () => P[]
  readonly enter: (place: P) => void
  readonly leave: (place: P) => void
}

/** What holds those under way, without their order. */
export type Holder<P extends QueueEntry> = Pick<Queue<P>, 'enter' | 'leave' | 'all'>

/** Takes a place out of whichever lane it stands in. */
export function leaveQueue(place: QueueEntry): void {
  ;(place.before as QueueEntry).after = place.after as QueueEntry
  ;(place.after as QueueEntry).before = place.before as QueueEntry
  // An old place that points at young ones would keep them, and all that they point at.
  place.before = place.after = undefined
}

/** Makes an empty lane: a ring of neighbours with one place that is never taken. */
export function createQueue<P extends QueueEntry>(): Queue<P> {
  const end: QueueEntry = {}
  end.before = end.after = end
  return {
    first: () => (end.after === end ? undefined : (end.after as P)),
    all: () => {
      const places: P[] = []
      for (let place = end.after; place !== end; place = place?.after) places.push(place as P)
      return places
    },
    enter: (place) => {
      place.before = end.before as QueueEntry
      place.after = end
      place.before.after = end.before = place
    },
    leave: leaveQueue,
  }
}
