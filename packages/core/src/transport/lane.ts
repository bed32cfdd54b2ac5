/** Something that stands in a lane. To make it with both neighbours undefined keeps it in one piece. */
export interface Place {
  before?: Place | undefined
  after?: Place | undefined
}

/** A line to wait in, first come, first served. Entering and leaving cost the same however long it is, wherever one stands. */
export interface Lane<P extends Place> {
  readonly first: () => P | undefined
  /** All who stand in it now, from the first to the last. */
  readonly all: () => P[]
  readonly enter: (place: P) => void
  readonly leave: (place: P) => void
}

/** What holds those under way, without their order. */
export type Holder<P extends Place> = Pick<Lane<P>, 'enter' | 'leave' | 'all'>

/** Takes a place out of whichever lane it stands in. */
export function leaveLane(place: Place): void {
  ;(place.before as Place).after = place.after as Place
  ;(place.after as Place).before = place.before as Place
  // An old place that points at young ones would keep them, and all that they point at.
  place.before = place.after = undefined
}

/** Makes an empty lane: a ring of neighbours with one place that is never taken. */
export function createLane<P extends Place>(): Lane<P> {
  const end: Place = {}
  end.before = end.after = end
  return {
    first: () => (end.after === end ? undefined : (end.after as P)),
    all: () => {
      const places: P[] = []
      for (let place = end.after; place !== end; place = place?.after) places.push(place as P)
      return places
    },
    enter: (place) => {
      place.before = end.before as Place
      place.after = end
      place.before.after = end.before = place
    },
    leave: leaveLane,
  }
}
