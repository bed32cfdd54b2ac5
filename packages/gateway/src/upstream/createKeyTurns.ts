/** A call that waits for its key's turn. */
interface Waiter {
  readonly endsAt: number
  readonly go: (leftMs: number) => () => void
  /** Stops what was begun when it was let go. */
  stop: () => void
  timer: NodeJS.Timeout | undefined
}

/** What one key has under way. */
interface Turns {
  open: number
  /** In the order in which they came; made when the first has to wait. */
  waiting: Set<Waiter> | undefined
  waking: boolean
}

/** How many exchanges each key has with the nodes of a network, so that no key takes all connections from the others. */
export interface KeyTurns {
  /** Whether an exchange of this key may begin now. */
  readonly free: (keyId: string) => boolean
  /** Counts an exchange that begins. To be given back once. */
  readonly take: (keyId: string) => void
  /** Counts an exchange that has ended, and lets those go that wait. */
  readonly give: (keyId: string) => void
  /**
   * Waits in the key's own line. Whoever is let go is not counted yet: it takes, if it begins an exchange.
   * @param options.waitMs - The longest time, in milliseconds; `go` is told what is left of it.
   * @param options.go - Called once when the turn has come, unless `late` was or the returned function. Gives what stops that which it began.
   * @param options.late - Called instead where it did not come in time, or at once where the line is full.
   * @returns What leaves the line, or stops what was begun since.
   */
  readonly wait: (
    keyId: string,
    options: { waitMs: number; go: (leftMs: number) => () => void; late: () => void },
  ) => () => void
}

/** A quarter of the connections to a node. */
const mostOfKey = 32
const mostWaitingOfKey = 1_000
/** Keys known before those are let go that have nothing under way. */
const fewKeys = 1_024
const nothing = (): void => {}

/**
 * Makes the book of the exchanges that keys have under way.
 * @param options.most - Exchanges of one key at once. @default 32
 * @param options.mostWaiting - Calls of one key that wait. @default 1000
 */
export const createKeyTurns = (options: { most?: number; mostWaiting?: number } = {}): KeyTurns => {
  const { most = mostOfKey, mostWaiting = mostWaitingOfKey } = options
  let keys = new Map<string, Turns>()
  let sweepAt = fewKeys

  const turnsOf = (keyId: string): Turns => {
    const known = keys.get(keyId)
    if (known !== undefined) return known
    // Idle keys stay, as to add and remove one for each call would cost more than to sweep now and then.
    if (keys.size >= sweepAt) {
      keys = new Map([...keys].filter(([, { open, waiting }]) => open > 0 || (waiting?.size ?? 0) > 0))
      sweepAt = Math.max(fewKeys, keys.size * 2)
    }
    const turns: Turns = { open: 0, waiting: undefined, waking: false }
    keys.set(keyId, turns)
    return turns
  }
  const wake = (turns: Turns): void => {
    const { waiting } = turns
    // One that is let go may end at once and give back: the loop it came from goes on.
    if (waiting === undefined || turns.waking) return
    turns.waking = true
    for (const waiter of waiting) {
      if (turns.open >= most) break
      waiting.delete(waiter)
      clearTimeout(waiter.timer)
      waiter.stop = waiter.go(Math.max(1, waiter.endsAt - performance.now()))
    }
    turns.waking = false
  }

  return {
    free: (keyId) => {
      const turns = keys.get(keyId)
      return turns === undefined || turns.open < most
    },
    take: (keyId) => {
      turnsOf(keyId).open += 1
    },
    give: (keyId) => {
      const turns = turnsOf(keyId)
      turns.open -= 1
      wake(turns)
    },
    wait: (keyId, { waitMs, go, late }) => {
      const turns = turnsOf(keyId)
      const waiting = (turns.waiting ??= new Set())
      if (waiting.size >= mostWaiting) {
        late()
        return nothing
      }
      const waiter: Waiter = { endsAt: performance.now() + waitMs, go, stop: nothing, timer: undefined }
      waiter.timer = setTimeout(() => {
        waiting.delete(waiter)
        late()
      }, waitMs)
      waiting.add(waiter)
      return () => {
        waiting.delete(waiter)
        clearTimeout(waiter.timer)
        waiter.stop()
      }
    },
  }
}
