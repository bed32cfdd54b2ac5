/** The latency of an upstream's cheap calls, or of its expensive ones. */
export interface Latency {
  /** Adds a latency in milliseconds. */
  readonly add: (ms: number) => void
  /** Adds the latency of one of the gateway's own queries, in milliseconds. It only counts for the average. */
  readonly addProbe: (ms: number) => void
  /** A moving average, in milliseconds; `undefined` before the first latency. */
  readonly average: () => number | undefined
  /** Whether it is at least twice as high as usual. */
  readonly isHigh: () => boolean
  /** The 95th percentile of the last full window of calls, in milliseconds; `undefined` before that. */
  readonly p95: () => number | undefined
}

/** How much of the average each latency is. */
const share = 0.1
/** The same for the average that is usual: it follows in hundreds of calls. */
const usualShare = 0.005
/** Less than this, in milliseconds, is not worth another node. */
const minHighMs = 5
/** How many calls the 95th percentile is of. */
const windowSize = 128

/** Creates the latency of an upstream. The percentile is worked out once for each window, so that a call costs no sort. */
export const createLatency = (): Latency => {
  const window = new Float64Array(windowSize)
  let size = 0
  let average: number | undefined
  let usual = 0
  let p95: number | undefined
  const addProbe = (ms: number): void => {
    usual = average === undefined ? ms : usual + usualShare * (ms - usual)
    average = average === undefined ? ms : average + share * (ms - average)
  }
  return {
    addProbe,
    add: (ms) => {
      addProbe(ms)
      window[size] = ms
      size += 1
      if (size < windowSize) return
      p95 = window.toSorted()[Math.ceil(windowSize * 0.95) - 1]
      size = 0
    },
    average: () => average,
    isHigh: () => average !== undefined && average >= 2 * usual && average - usual >= minHighMs,
    p95: () => p95,
  }
}
