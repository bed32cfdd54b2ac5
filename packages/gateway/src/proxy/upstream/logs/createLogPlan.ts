import type { RangeHint } from '@keyrail/core/internal'

/** A range of blocks, both inclusive. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** A part of a plan, as `next` returned it. */
export interface LogPart extends BlockRange {
  /** How often a node has rejected a part that starts here. */
  readonly rejections: number
}

/** The parts of a range to query, their order and their results. The plan sends nothing. */
export interface LogPlan {
  /** Whether the allowed number of queries is enough for the range. */
  readonly fits: () => boolean
  /** The next part to query; `undefined` if none may start now. The first one runs alone, to find out which size the node accepts. */
  readonly next: () => LogPart | undefined
  readonly complete: (part: LogPart, logs: Buffer) => void
  /**
   * Splits a part that the node rejected.
   * @param hint - What the node's error says about the range that it accepts.
   * @returns False if the allowed number of queries is not enough for the range: then give up.
   */
  readonly reject: (part: LogPart, hint: RangeHint) => boolean
  /** How many blocks a part may have. */
  readonly size: () => number
  readonly isComplete: () => boolean
  /** The results of the completed parts, in chain order. */
  readonly logs: () => readonly Buffer[]
}

interface PlannedPart extends LogPart {
  readonly state: 'waiting' | 'inFlight' | Buffer
}

/** Options of a plan. */
interface LogPlanOptions {
  /** How many blocks a part may have at first. */
  readonly size: number
  /** The most queries, rejected ones included. */
  readonly maxQueries: number
  /** The most queries in flight. */
  readonly concurrency: number
}

const countBlocks = ({ from, to }: BlockRange): number => to - from + 1

/** Creates a plan for a range of at least one block. */
export const createLogPlan = (range: BlockRange, options: LogPlanOptions): LogPlan => {
  const { maxQueries, concurrency } = options
  let { size } = options
  let queries = 0
  let inFlight = 0
  let hasSucceeded = false
  /** Always in chain order, without a gap or an overlap. */
  let parts: readonly PlannedPart[] = [{ ...range, rejections: 0, state: 'waiting' }]

  const replace = (part: BlockRange, ...by: readonly PlannedPart[]): void => {
    parts = parts.flatMap((one) => (one.from === part.from ? by : [one]))
  }
  const fits = (): boolean => {
    let needed = queries
    for (const part of parts) if (part.state === 'waiting') needed += Math.ceil(countBlocks(part) / size)
    return needed <= maxQueries
  }
  /** Cuts a waiting part into one of at most `blocks` blocks and the rest. */
  const cut = (part: LogPart, blocks: number): readonly [PlannedPart, ...PlannedPart[]] => {
    const to = Math.min(part.to, part.from + blocks - 1)
    const first: PlannedPart = { from: part.from, to, rejections: part.rejections, state: 'waiting' }
    return to === part.to ? [first] : [first, { from: to + 1, to: part.to, rejections: 0, state: 'waiting' }]
  }
  return {
    fits,
    next: () => {
      const part = parts.find(({ state }) => state === 'waiting')
      if (part === undefined || inFlight >= (hasSucceeded ? concurrency : 1)) return undefined
      const [first, ...rest] = cut(part, size)
      replace(part, { ...first, state: 'inFlight' }, ...rest)
      queries += 1
      inFlight += 1
      return first
    },
    complete: (part, logs) => {
      inFlight -= 1
      hasSucceeded = true
      replace(part, { ...part, state: logs })
    },
    reject: (part, hint) => {
      inFlight -= 1
      const blocks = countBlocks(part)
      if (blocks === 1 || hint.tooManyAddresses === true) return false
      const smaller = getSmallerSize(part, hint)
      // Later, one part with many logs does not make the others smaller.
      if (!hasSucceeded || hint.maxBlocks !== undefined) size = Math.min(size, smaller)
      replace(part, ...cut({ ...part, rejections: part.rejections + 1 }, smaller))
      return fits()
    },
    size: () => size,
    isComplete: () => parts.every(({ state }) => typeof state === 'object'),
    logs: () => parts.flatMap(({ state }) => (typeof state === 'object' ? [state] : [])),
  }
}

/** How many blocks to query after a rejection: what the error suggests, or half as many. */
const getSmallerSize = (part: LogPart, { maxBlocks = 0, fromBlock = NaN, toBlock = NaN }: RangeHint): number => {
  const blocks = countBlocks(part)
  // If the suggested range starts at another block, only its length is meaningful.
  const suggested = fromBlock <= part.from && toBlock >= part.from ? toBlock - part.from + 1 : toBlock - fromBlock + 1
  const candidates = [suggested, maxBlocks].filter((size) => size >= 1 && size < blocks)
  // The suggestion may be too large as well.
  if (candidates.length === 0 || part.rejections > 0) candidates.push(Math.floor(blocks / 2))
  return Math.min(...candidates)
}
