import { createLine } from './createLine.ts'
import type { Line } from './createLine.ts'

/** Whose exchange it is. */
export interface SlotOf {
  readonly keyId: string
  /** Who has the key, perhaps with others. Always the same of one key. */
  readonly ownerId: string
}

/** A call that waits for its turn. */
interface Waiter {
  readonly endsAt: number
  readonly go: (leftMs: number) => () => void
  /** In its line. */
  number: number
  /** Stops what was begun when it was let go. */
  stop: () => void
  timer: NodeJS.Timeout | undefined
}

/** What the keys of one owner have in flight. */
interface Owner {
  open: number
  /** The keys that have a line, in the order in which one of each is let go. */
  readonly lines: Turns[]
}

/** What one key has in flight. */
interface Turns {
  readonly owner: Owner
  open: number
  /** In the order in which they came. */
  readonly waiting: Line<Waiter>
}

/** How many exchanges each key and each owner has with the nodes of a network, so that nobody takes all connections from the others. */
export interface FairQueue {
  /** Whether an exchange may begin now. */
  readonly free: (of: SlotOf) => boolean
  /** Counts an exchange that begins. To be given back once. */
  readonly take: (of: SlotOf) => void
  /** Counts an exchange that has ended, and lets those go that wait. */
  readonly give: (of: SlotOf) => void
  /**
   * Waits in the key's own line. Whoever is let go is not counted yet: it takes, if it begins an exchange.
   * @param options.waitMs - The longest time, in milliseconds; `go` is told what is left of it.
   * @param options.go - Called once when the turn has come, unless `late` was or the returned function. Gives what stops that which it began.
   * @param options.late - Called instead where it did not come in time, or at once where the line is full.
   * @returns What leaves the line, or stops what was begun since.
   */
  readonly wait: (
    of: SlotOf,
    options: { waitMs: number; go: (leftMs: number) => () => void; late: () => void },
  ) => () => void
}

/** As many as there are connections to a node. */
const mostOfAll = 128
const mostWaitingOfKey = 1_000
/** Keys known before those are let go that have nothing in flight. */
const fewKeys = 1_024
const nothing = (): void => {}

/**
 * Makes the book of the exchanges that are in flight. An owner may have as many as are left for all: alone half of them, one of two that
 * want all they can get a third, one of nine a tenth. So whoever comes finds some left, however many are greedy.
 * @param options.all - Exchanges of all owners at once. @default 128
 * @param options.most - Of one key. @default as many as its owner may have
 * @param options.mostWaiting - Calls of one key that wait. @default 1000
 */
export const createFairQueue = (options: { all?: number; most?: number; mostWaiting?: number } = {}): FairQueue => {
  const { all = mostOfAll, most = all, mostWaiting = mostWaitingOfKey } = options
  let keys = new Map<string, Turns>()
  let owners = new Map<string, Owner>()
  let sweepAt = fewKeys
  let open = 0
  /** Those with a line, in the order in which one of each is let go. */
  const waiting: Owner[] = []
  let waking = false

  const mayOwner = (owner: Owner): boolean => owner.open < all - open
  const sweep = (): void => {
    keys = new Map([...keys].filter(([, turns]) => turns.open > 0 || turns.waiting.size() > 0))
    owners = new Map([...owners].filter(([, owner]) => owner.open > 0 || owner.lines.length > 0))
    sweepAt = Math.max(fewKeys, keys.size * 2)
  }
  const turnsOf = ({ keyId, ownerId }: SlotOf): Turns => {
    const known = keys.get(keyId)
    if (known !== undefined) return known
    // Idle keys stay, as to add and remove one for each call would cost more than to sweep now and then.
    if (keys.size >= sweepAt) sweep()
    let owner = owners.get(ownerId)
    if (owner === undefined) owners.set(ownerId, (owner = { open: 0, lines: [] }))
    const turns: Turns = { owner, open: 0, waiting: createLine() }
    keys.set(keyId, turns)
    return turns
  }
  const leave = (turns: Turns, waiter: Waiter): void => {
    clearTimeout(waiter.timer)
    if (!turns.waiting.leave(waiter.number) || turns.waiting.size() > 0) return
    takeOut(turns.owner.lines, turns)
    if (turns.owner.lines.length === 0) takeOut(waiting, turns.owner)
  }
  /** Lets one of an owner's calls go, of the key whose turn it is. @returns Whether one may. */
  const letOneGo = (owner: Owner): boolean => {
    if (!mayOwner(owner)) return false
    const turns = owner.lines.find((line) => line.open < most)
    const waiter = turns?.waiting.first()
    if (turns === undefined || waiter === undefined) return false
    leave(turns, waiter)
    if (takeOut(owner.lines, turns)) owner.lines.push(turns)
    waiter.stop = waiter.go(Math.max(1, waiter.endsAt - performance.now()))
    return true
  }
  const wake = (): void => {
    // One that is let go may end at once and give back: the loop it came from goes on.
    if (waking || waiting.length === 0) return
    waking = true
    let passed = 0
    while (open < all && passed < waiting.length) {
      const owner = waiting.shift()
      if (owner === undefined) break
      waiting.push(owner)
      passed = letOneGo(owner) ? 0 : passed + 1
    }
    waking = false
  }

  return {
    free: ({ keyId, ownerId }) => {
      const turns = keys.get(keyId)
      if (turns !== undefined) return turns.open < most && mayOwner(turns.owner)
      const owner = owners.get(ownerId)
      return owner === undefined ? open < all : mayOwner(owner)
    },
    take: (of) => {
      const turns = turnsOf(of)
      turns.open += 1
      turns.owner.open += 1
      open += 1
    },
    give: (of) => {
      const turns = turnsOf(of)
      turns.open -= 1
      turns.owner.open -= 1
      open -= 1
      wake()
    },
    wait: (of, { waitMs, go, late }) => {
      const turns = turnsOf(of)
      if (turns.waiting.size() >= mostWaiting) {
        late()
        return nothing
      }
      const waiter: Waiter = { endsAt: performance.now() + waitMs, go, number: 0, stop: nothing, timer: undefined }
      waiter.timer = setTimeout(() => {
        leave(turns, waiter)
        late()
      }, waitMs)
      if (turns.owner.lines.length === 0) waiting.push(turns.owner)
      if (turns.waiting.size() === 0) turns.owner.lines.push(turns)
      waiter.number = turns.waiting.join(waiter)
      return () => {
        leave(turns, waiter)
        waiter.stop()
      }
    },
  }
}

/** @returns Whether it was there. */
const takeOut = <Item>(line: Item[], item: Item): boolean => {
  const place = line.indexOf(item)
  if (place !== -1) line.splice(place, 1)
  return place !== -1
}
