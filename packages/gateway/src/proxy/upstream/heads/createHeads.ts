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
/** In blocks per second. Some chains only have a block when there are transactions, and fast ones stand still at times. */
const leastPace = 4
/** If nodes have responded for so long, and none with a head near the highest credible one, the chain itself has jumped. */
const maxDoubtMs = 30_000

/**
 * Creates the heads of the nodes of one network. A head counts if a second node has about the same one, or if the chain can have got there since the
 * highest head so far, at its own pace. So a single node with a wrong head neither makes the others look as if they were behind, nor shows callers a
 * block that does not exist. The first heads count if two nodes have about the same ones, or else the highest one does.
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
  /** The highest credible head, and when a node first had it. */
  let highest: { readonly block: number; readonly at: number } | undefined
  let measuredFrom = { block: 0, at: 0 }
  /** Since when nodes have responded with heads that are not credible, and none with one near the highest. */
  let doubtedSince: number | undefined
  /** Since when all nodes have responded with lower heads. */
  let lowerSince: number | undefined

  const isNear = (one: number | undefined, other: number): boolean =>
    one !== undefined && Math.abs(one - other) <= tolerance
  /** In blocks per second. */
  const getPace = (): number => {
    if (highest === undefined || now() - measuredFrom.at < measureMs) return unknownPace
    // Until the highest block: the time since then is what the pace is compared with.
    const elapsedMs = Math.max(highest.at - measuredFrom.at, measureMs)
    return Math.max(leastPace, (paceMargin * (highest.block - measuredFrom.block) * 1_000) / elapsedMs)
  }
  const isInPace = (head: number): boolean =>
    highest === undefined || head <= highest.block + tolerance + (getPace() * (now() - highest.at)) / 1_000
  const isSupported = (head: number, index: number): boolean =>
    reported.some((other, place) => place !== index && isNear(other, head))
  const accept = (head: number): void => {
    const time = now()
    if (highest === undefined || !isInPace(head)) measuredFrom = { block: head, at: time }
    if (highest === undefined || head > highest.block) highest = { block: head, at: time }
    if (head >= highest.block - tolerance) doubtedSince = undefined
  }
  /** Makes the highest head of now the highest one if all nodes have had lower ones for a while: the chain was reset, or the head was wrong. */
  const forgetHighest = (heads: readonly (number | undefined)[]): void => {
    const time = now()
    const lowest = (highest?.block ?? 0) - tolerance
    if (!heads.every((head) => head !== undefined && head < lowest)) lowerSince = undefined
    else if (time - (lowerSince ??= time) >= maxDoubtMs) {
      highest = undefined
      lowerSince = undefined
    }
  }
  /** Decides on the last head of a node. */
  const decide = (index: number): boolean => {
    const head = reported[index]
    if (head === undefined) return true
    const hasJumped = doubtedSince !== undefined && now() - doubtedSince >= maxDoubtMs
    const isCredible = trusting || isInPace(head) || isSupported(head, index) || hasJumped
    if (isCredible) {
      accept(head)
      credible[index] = head
      doubted.delete(index)
    } else {
      doubted.add(index)
      doubtedSince ??= now()
    }
    return isCredible
  }

  return {
    compare: (heads) => {
      reported = [...heads]
      forgetHighest(heads)
      if (highest === undefined && !trusting) {
        const known = heads.filter((head) => head !== undefined)
        const supported = heads.filter((head, index) => head !== undefined && isSupported(head, index))
        if (known.length > 0) accept(Math.max(...(supported.length > 0 ? (supported as number[]) : known)))
      }
      let best = 0
      // The lowest first: a node that keeps the chain's pace is not doubted because of one that does not.
      const order = [...heads.keys()].toSorted((one, other) => (heads[one] ?? 0) - (heads[other] ?? 0))
      for (const index of order) if (decide(index)) best = Math.max(best, heads[index] ?? 0)
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
