/** How long answers take, by traffic: the recent ones count most. */
export interface Latency {
  readonly add: (ms: number) => void
  /** The average, in milliseconds, a new answer weighing an eighth; undefined before the first. */
  readonly averageMs: () => number | undefined
  /** The time within which so many of a hundred answers came, in milliseconds; undefined before there are 20. */
  readonly percentileMs: (percentile: number) => number | undefined
}

/** Four steps for each doubling, so that a percentile is at most 19 % too high, from a quarter of a millisecond to two minutes. */
const STEPS = 4
const LEAST_LOG = -2
const SLOTS = 19 * STEPS

/** After so many answers the old ones count half. */
const HALF_LIFE = 1_024

/** Begins to measure: 76 counters, whatever the traffic. */
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
