import { monotonicClock } from '../../../lib/clock.ts'

/** The heads of a network's nodes, without those that are not credible. */
export interface Heads {
  /**
   * Records the heads of all nodes at one moment; `undefined` for a node that did not respond.
   * @returns The highest credible one; 0 if there is none.
   */
  readonly compare: (heads: readonly (number | undefined)[]) => number
  /** Records the head that a node responded with, if it is credible. @returns Whether it is. */
  readonly report: (index: number, head: number) => boolean
  /** The last credible head of the node at this place. */
  readonly get: (index: number) => number | undefined
  /** Whether the last head of the node at this place is not credible. */
  readonly isDoubted: (index: number) => boolean
  /** Whether a head that some node responded with is credible. */
  readonly isCredible: (head: number) => boolean
}

/** How fast a chain may be, compared with its average. */
const paceMargin = 4
/** How long a chain is measured before its pace counts. */
const measureMs = 60_000
/** In blocks per second. No chain whose nodes are a few seconds apart is faster. */
const unknownPace = 20
/** In blocks per second. Some chains only have a block when there are transactions, and fast ones pause at times. */
const leastPace = 4
/** How long nodes have to respond with other heads before the chain counts as changed, and how long two nodes have to agree on that. */
const maxDoubtMs = 30_000

/** A block, and when a node first had it. */
interface Head {
  readonly block: number
  readonly at: number
}

/**
 * Creates the heads of the nodes of one network. A head counts if a second node has about the same one, or if the chain can have got there since the
 * highest head so far, at its own pace. So a single node with a wrong head neither makes the others look as if they were behind, nor shows callers a
 * block that does not exist.
 *
 * The first heads count if two nodes have about the same ones, or else the highest one does. That one may be wrong, and so may a jump that two nodes
 * reported. Until two nodes have agreed on it for a while, two others that agree replace it. Any highest head is replaced by one that two nodes agree on
 * once no node has been near it for a while. If no two agree then, any head counts until a node is near the highest one again.
 * @param options.tolerance - How many blocks two heads may differ.
 * @param options.trusting - Whether any head counts, because callers can rewrite the chain, or there is no other node.
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createHeads = (options: { tolerance: number; trusting: boolean; now?: () => number }): Heads => {
  const { tolerance, trusting, now = monotonicClock() } = options
  /** The last head of each node, and the last credible one. */
  let reported: (number | undefined)[] = []
  const credible: (number | undefined)[] = []
  const doubted = new Set<number>()
  /** The highest credible head. */
  let highest: Head | undefined
  /** The first head, or the last one that the chain cannot have got to at its pace. The pace is measured from it. */
  let origin: Head = { block: 0, at: 0 }
  /** Whether two nodes agreed on the origin at the start, or have agreed on it for a while. */
  let isConfirmed = false
  /** Since when nodes have responded, and none with a head near the highest one. */
  let leftSince: number | undefined

  const isNear = (one: number | undefined, other: number): boolean =>
    one !== undefined && Math.abs(one - other) <= tolerance
  /** In blocks per second. */
  const getPace = (until: Head): number => {
    if (now() - origin.at < measureMs) return unknownPace
    // Until the highest block: the time since then is what the pace is compared with.
    const elapsedMs = Math.max(until.at - origin.at, measureMs)
    return Math.max(leastPace, (paceMargin * (until.block - origin.block) * 1_000) / elapsedMs)
  }
  const isInPace = (head: number): boolean =>
    highest === undefined || head <= highest.block + tolerance + (getPace(highest) * (now() - highest.at)) / 1_000
  const isSupported = (head: number, index: number): boolean =>
    reported.some((other, place) => place !== index && isNear(other, head))
  const hasLeft = (): boolean => leftSince !== undefined && now() - leftSince >= maxDoubtMs

  const start = (block: number, confirmed: boolean): void => {
    highest = { block, at: now() }
    origin = highest
    isConfirmed = confirmed
    leftSince = undefined
  }
  const follow = (block: number): void => {
    if (highest === undefined || !isInPace(block)) start(block, false)
    else if (block > highest.block) highest = { block, at: now() }
  }
  /** Compares the highest head with those of now, and replaces it if it was wrong or the chain was reset. */
  const review = (): void => {
    const known = reported.filter((head) => head !== undefined)
    if (known.length === 0) return
    const agreed = reported.filter((head, index) => head !== undefined && isSupported(head, index)) as number[]
    if (highest === undefined) {
      start(Math.max(...(agreed.length > 0 ? agreed : known)), agreed.length > 0)
      return
    }
    const lowest = highest.block - tolerance
    const followers = known.filter((head) => head >= lowest && isInPace(head)).length
    if (followers > 0) leftSince = undefined
    else leftSince ??= now()
    if (followers > 1 && now() - origin.at >= maxDoubtMs) isConfirmed = true
    if (agreed.length > 0 && (hasLeft() || (followers < 2 && !isConfirmed))) start(Math.max(...agreed), true)
  }
  /** Decides on the last head of a node. */
  const decide = (index: number): boolean => {
    const head = reported[index]
    if (head === undefined) return true
    const follows = trusting || isInPace(head) || isSupported(head, index)
    if (follows) follow(head)
    else if (!hasLeft()) {
      doubted.add(index)
      return false
    }
    credible[index] = head
    doubted.delete(index)
    return true
  }

  return {
    compare: (heads) => {
      reported = [...heads]
      if (!trusting) review()
      let best = 0
      // The lowest first: a node that keeps the chain's pace is not doubted because of one that does not.
      const order = [...heads.keys()].toSorted((one, other) => (heads[one] ?? 0) - (heads[other] ?? 0))
      for (const index of order) if (decide(index)) best = Math.max(best, heads[index] ?? 0)
      // What counted before may be far above the highest head of now.
      if (!hasLeft())
        for (const [index, head] of credible.entries())
          if (head !== undefined && !isInPace(head)) credible[index] = undefined
      return best
    },
    report: (index, head) => {
      reported[index] = head
      const isCredible = decide(index)
      // It may support others.
      if (isCredible) for (const other of doubted) decide(other)
      return isCredible
    },
    get: (index) => credible[index],
    isDoubted: (index) => doubted.has(index),
    isCredible: (head) => trusting || isInPace(head) || credible.some((known) => isNear(known, head)),
  }
}
