/** The response times of an endpoint. Recent ones count most. */
export interface Latency {
  readonly add: (ms: number) => void
  /** The moving average, in milliseconds: a new response counts an eighth. Undefined before the first. */
  readonly averageMs: () => number | undefined
  /** The response time at a percentile, in milliseconds; undefined before there are 20 responses. */
  readonly percentileMs: (percentile: number) => number | undefined
}

/** Four slots for each doubling, so that a percentile is at most 19 % too high, from a quarter of a millisecond to two minutes. */
const STEPS = 4
const LEAST_LOG = -2
const SLOTS = 19 * STEPS

/** After this many responses, the older ones count half. */
const HALF_LIFE = 1_024

/** Creates an empty histogram of response times. It takes 76 counters, at any traffic. */
export function createLatency(): Latency {
  const slots = new Float64Array(SLOTS)
  let total = 0
  let averageMs: number | undefined
  return {
    add: (ms) => {
      averageMs = averageMs === undefined ? ms : averageMs + (ms - averageMs) / 8
      const slot = Math.floor((Math.log2(ms) - LEAST_LOG) * STEPS)
      slots[Math.min(SLOTS - 1, Math.max(0, slot))]! += 1
      if (++total < 2 * HALF_LIFE) return
      total = 0
      for (let i = 0; i < SLOTS; i++) total += slots[i]! /= 2
    },
    averageMs: () => averageMs,
    percentileMs: (percentile) => {
      if (total < 20) return undefined
      let left = (total * percentile) / 100
      let slot = 0
      while (slot < SLOTS - 1 && (left -= slots[slot]!) > 0) slot++
      return 2 ** ((slot + 1) / STEPS + LEAST_LOG)
    },
  }
}
