/** The number of latency buckets. The first ends at 0.5 ms, each bound is a quarter octave above the previous one, and the last bucket starts at 65 s. */
export const bucketCount = 70

const firstMs = 0.5
const perOctave = 4

/** Returns the bucket of a latency. */
export const toBucket = (ms: number): number => {
  if (!(ms > firstMs)) return 0
  const bucket = Math.ceil(Math.log2(ms / firstMs) * perOctave)
  return bucket < bucketCount ? bucket : bucketCount - 1
}

/** Returns the upper bound of a bucket, in milliseconds. */
const getUpperBound = (bucket: number): number => firstMs * 2 ** (bucket / perOctave)

/**
 * Returns a percentile of the counted latencies, interpolated inside its bucket: within 19 % of the exact value.
 * @param counts - The count of each bucket, starting at `offset`.
 * @param share - For example 0.95.
 * @returns Milliseconds, rounded to a tenth; `null` if nothing was counted.
 */
export const percentile = (counts: ArrayLike<number>, share: number, offset = 0): number | null => {
  let total = 0
  for (let bucket = 0; bucket < bucketCount; bucket += 1) total += counts[offset + bucket] ?? 0
  if (total === 0) return null
  const rank = Math.max(1, Math.ceil(total * share))
  let before = 0
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const count = counts[offset + bucket] ?? 0
    if (before + count >= rank) {
      const start = bucket === 0 ? 0 : getUpperBound(bucket - 1)
      const ms = start + ((getUpperBound(bucket) - start) * (rank - before)) / count
      return Math.round(ms * 10) / 10
    }
    before += count
  }
  return null
}
