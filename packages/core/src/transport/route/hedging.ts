import type { HedgeOptions, RouteEndpoint } from './routeOptions.ts'

/** Decides when a read is hedged: sent to a second endpoint because the first one is slow. */
export interface Hedging {
  /**
   * Counts a read, which adds `maxRatio` to the hedges that are available.
   *
   * @param endpoint - The endpoint that the read was sent to.
   * @returns After how many milliseconds the read is hedged; undefined as long as the endpoint has too few responses to decide.
   */
  readonly countRead: (endpoint: RouteEndpoint) => number | undefined
  /** Whether `maxRatio` allows a hedge now. */
  readonly isAvailable: () => boolean
  /** Uses up one hedge. */
  readonly use: () => void
}

/** Unused hedges are saved for a moment in which many reads are slow, up to this many. */
const MAX_SAVED_HEDGES = 10

/** Ten tenths add up to a little less than one. */
const ROUNDING_ERROR = 1e-9

/**
 * Creates the hedging of a transport.
 *
 * @param options - When reads are hedged, and how many of them.
 */
export function createHedging({ percentile = 95, minMs = 50, maxRatio = 0.1 }: HedgeOptions): Hedging {
  let available = 0
  return {
    countRead: ({ percentileMs }) => {
      available = Math.min(MAX_SAVED_HEDGES, available + maxRatio)
      const slowMs = percentileMs?.(percentile)
      return slowMs === undefined ? undefined : Math.max(minMs, slowMs)
    },
    isAvailable: () => available >= 1 - ROUNDING_ERROR,
    use: () => {
      available--
    },
  }
}
