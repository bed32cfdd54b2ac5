/** How many buckets latencies are counted in: the first up to half a millisecond, each next a quarter octave wider, the last from 65 s on. */
export const bucketCount = 70

const firstMs = 0.5
const perOctave = 4

/** The bucket that a latency falls into. */
export const bucketOf = (ms: number): number => {
  if (!(ms > firstMs)) return 0
  const bucket = Math.ceil(Math.log2(ms / firstMs) * perOctave)
  return bucket < bucketCount ? bucket : bucketCount - 1
}

/** Where a bucket ends, in milliseconds. */
const endOf = (bucket: number): number => firstMs * 2 ** (bucket / perOctave)

/**
 * The latency that a share of all stayed within, put evenly between the ends of its bucket: within 19 % of the true one.
 * @param counts - How many fell into each bucket; may be longer, and begin at `offset`.
 * @param share - Such as 0.95.
 * @returns Milliseconds, rounded to a tenth; `null` where nothing was counted.
 */
export const percentile = (counts: ArrayLike<number>, share: number, offset = 0): number | null => {
  let all = 0
  for (let bucket = 0; bucket < bucketCount; bucket += 1) all += counts[offset + bucket] ?? 0
  if (all === 0) return null
  const rank = Math.max(1, Math.ceil(all * share))
  let before = 0
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const count = counts[offset + bucket] ?? 0
    if (before + count >= rank) {
      const start = bucket === 0 ? 0 : endOf(bucket - 1)
      const ms = start + ((endOf(bucket) - start) * (rank - before)) / count
      return Math.round(ms * 10) / 10
    }
    before += count
  }
  return null
}
