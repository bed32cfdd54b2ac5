/** A body that waits to be parsed. */
interface WaitingBody {
  readonly bytes: number
  readonly parse: () => void
}

/** Parses large bodies a few at a time, so that those of one user do not delay the others. */
export interface BodyQueue {
  /**
   * Calls `parse` once: immediately for a small body, in a later turn of the event loop for a large one.
   * @param ownerId - The owner of the key. Owners take turns.
   * @param bytes - The length of the body.
   */
  readonly add: (ownerId: string, bytes: number, parse: () => void) => void
}

/** A body up to this size takes less time to parse than to receive. */
export const smallBody: number = 16 * 1024
/** How many bytes are parsed in one turn of the event loop. */
const bytesPerTurn = 256 * 1024

/**
 * Creates a queue. A turn of the event loop parses bodies until it has reached 256 KiB. Then it leaves the rest to later turns.
 * @param nextTurn - Runs a function in the next turn of the event loop. @default setImmediate
 */
export const createBodyQueue = (nextTurn: (run: () => void) => void = (run) => void setImmediate(run)): BodyQueue => {
  /** In the order of their turns. */
  const owners = new Map<string, WaitingBody[]>()

  const takeNext = (): WaitingBody | undefined => {
    for (const [ownerId, bodies] of owners) {
      const body = bodies.shift()
      owners.delete(ownerId)
      if (bodies.length > 0) owners.set(ownerId, bodies)
      return body
    }
    return undefined
  }
  let isScheduled = false
  const schedule = (): void => {
    if (isScheduled || owners.size === 0) return
    isScheduled = true
    nextTurn(runTurn)
  }
  const runTurn = (): void => {
    isScheduled = false
    let left = bytesPerTurn
    for (let body = takeNext(); body !== undefined; body = left > 0 ? takeNext() : undefined) {
      left -= body.bytes
      body.parse()
    }
    schedule()
  }

  return {
    add: (ownerId, bytes, parse) => {
      if (bytes <= smallBody) {
        parse()
        return
      }
      const waiting = owners.get(ownerId)
      if (waiting === undefined) owners.set(ownerId, [{ bytes, parse }])
      else waiting.push({ bytes, parse })
      schedule()
    },
  }
}
