/** How long things took. Plain data; counts only grow, so that two snapshots can be subtracted. */
export interface LatencyStats {
  readonly count: number
  readonly sumMs: number
  readonly maxMs: number
  /** The time within which half of them came, in milliseconds, estimated from the buckets; null before the first. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  /** Upper bounds of the buckets, in milliseconds; the same for all, from 0.1 to 100,000. */
  readonly boundsMs: readonly number[]
  /** How many fell into each bucket: above the bound before it, up to its own. The last, one more than there are bounds, holds what took longer. */
  readonly counts: readonly number[]
}

/** Counts durations. */
export interface LatencyHistogram {
  readonly add: (ms: number) => void
  readonly snapshot: () => LatencyStats
}

/** Six steps for each power of ten: an estimate lies in the right bucket, whose bounds are two thirds apart at most. */
const createBounds = (): readonly number[] =>
  [0.1, 1, 10, 100, 1_000, 10_000]
    .flatMap((ten) => [1, 1.5, 2, 3, 5, 7].map((step) => +(ten * step).toPrecision(2)))
    .concat(100_000)

// Marked, so that a bundle in which nobody counts does not hold it.
const boundsMs: readonly number[] = /* @__PURE__ */ createBounds()

/**
 * Estimates the time within which so many of a hundred came, from the buckets of a histogram: between the bounds of a bucket by straight line.
 *
 * @param histogram - `boundsMs` and `counts` of {@link LatencyStats}, or the difference of the counts of two snapshots.
 * @param percentile - From 0 to 100.
 * @returns Milliseconds, the highest bound where it is above that; null where nothing was counted.
 * @example
 * const latency = createLatencyHistogram()
 * const before = latency.snapshot().counts
 * latency.add(120)
 * const { boundsMs, counts } = latency.snapshot()
 * percentileMs({ boundsMs, counts: counts.map((count, i) => count - (before[i] ?? 0)) }, 95) // of what came in between
 */
export function percentileMs(
  { boundsMs: bounds, counts }: Pick<LatencyStats, 'boundsMs' | 'counts'>,
  percentile: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = (total * percentile) / 100
  for (const [i, high] of bounds.entries()) {
    const count = counts[i] ?? 0
    const low = bounds[i - 1] ?? 0
    // Rounding can put the end of a line a bit above its bucket.
    if (count > 0 && left <= count) return Math.min(high, low + ((high - low) * left) / count)
    left -= count
  }
  return bounds.at(-1) ?? null
}

/** Begins to count: 38 numbers, whatever the traffic. */
export function createLatencyHistogram(): LatencyHistogram {
  const counts = new Float64Array(boundsMs.length + 1)
  let sumMs = 0
  let maxMs = 0
  return {
    add: (ms) => {
      sumMs += ms
      if (ms > maxMs) maxMs = ms
      let low = 0
      let high = boundsMs.length
      while (low < high) {
        const middle = (low + high) >> 1
        if (ms > boundsMs[middle]!) low = middle + 1
        else high = middle
      }
      counts[low]! += 1
    },
    snapshot: () => {
      const seen = [...counts]
      const percentile = (p: number): number | null => {
        const ms = percentileMs({ boundsMs, counts: seen }, p)
        return ms && Math.min(ms, maxMs)
      }
      return {
        count: seen.reduce((sum, count) => sum + count, 0),
        sumMs,
        maxMs,
        p50Ms: percentile(50),
        p95Ms: percentile(95),
        p99Ms: percentile(99),
        boundsMs: [...boundsMs],
        counts: seen,
      }
    },
  }
}
