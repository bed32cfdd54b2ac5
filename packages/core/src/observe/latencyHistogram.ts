/** A histogram of durations. Plain data that can be written as JSON. Counts only grow: to measure an interval, subtract two snapshots. */
export interface LatencyStats {
  /** Number of durations. */
  readonly count: number
  /** Sum of all durations, in milliseconds. */
  readonly sumMs: number
  /** The longest duration, in milliseconds; 0 if there is none. */
  readonly maxMs: number
  /** The median in milliseconds, estimated from the buckets; null if there are no durations. */
  readonly p50Ms: number | null
  /** The 95th percentile in milliseconds, estimated from the buckets; null if there are no durations. */
  readonly p95Ms: number | null
  /** The 99th percentile in milliseconds, estimated from the buckets; null if there are no durations. */
  readonly p99Ms: number | null
  /** Upper bounds of the buckets, in milliseconds, inclusive; always the same 37, from 0.1 to 100,000. */
  readonly boundsMs: readonly number[]
  /** Durations in each bucket: `counts[i]` holds those above `boundsMs[i - 1]`, up to `boundsMs[i]`. One more count at the end holds those above all bounds. */
  readonly counts: readonly number[]
}

/** Counts durations in buckets. */
export interface LatencyHistogram {
  /** Counts one duration, in milliseconds. */
  readonly add: (ms: number) => void
  /** Copies the counts; later durations do not change the copy. */
  readonly snapshot: () => LatencyStats
}

/** Six buckets for each power of ten. The upper bound of a bucket is at most two thirds above its lower bound, which limits the error of an estimate. */
const createBounds = (): readonly number[] =>
  [0.1, 1, 10, 100, 1_000, 10_000]
    .flatMap((ten) => [1, 1.5, 2, 3, 5, 7].map((step) => +(ten * step).toPrecision(2)))
    .concat(100_000)

// Marked as pure, so that bundlers drop it if no stats are used.
const boundsMs: readonly number[] = /* @__PURE__ */ createBounds()

/**
 * Estimates a percentile from the buckets of a histogram, with linear interpolation within a bucket.
 *
 * @param histogram - `boundsMs` and `counts` of {@link LatencyStats}; to measure an interval, the differences of the counts of two snapshots.
 * @param percentile - From 0 to 100.
 * @returns Milliseconds, at most the highest bound; null if all counts are 0.
 * @example
 * const latency = createLatencyHistogram()
 * const before = latency.snapshot().counts
 * latency.add(120)
 * const { boundsMs, counts } = latency.snapshot()
 * percentileMs({ boundsMs, counts: counts.map((count, i) => count - (before[i] ?? 0)) }, 95) // of the durations between the snapshots
 */
export function percentileMs(
  { boundsMs: bounds, counts }: Pick<LatencyStats, 'boundsMs' | 'counts'>,
  percentile: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let remaining = (total * percentile) / 100
  for (const [i, high] of bounds.entries()) {
    const count = counts[i] ?? 0
    const low = bounds[i - 1] ?? 0
    // Rounding can lift the result slightly above the bucket.
    if (count > 0 && remaining <= count) return Math.min(high, low + ((high - low) * remaining) / count)
    remaining -= count
  }
  return bounds.at(-1) ?? null
}

/** Creates an empty histogram. It holds 38 counts, so its memory does not grow with traffic. */
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
      const copy = [...counts]
      const percentile = (p: number): number | null => {
        const ms = percentileMs({ boundsMs, counts: copy }, p)
        return ms && Math.min(ms, maxMs)
      }
      return {
        count: copy.reduce((sum, count) => sum + count, 0),
        sumMs,
        maxMs,
        p50Ms: percentile(50),
        p95Ms: percentile(95),
        p99Ms: percentile(99),
        boundsMs: [...boundsMs],
        counts: copy,
      }
    },
  }
}
