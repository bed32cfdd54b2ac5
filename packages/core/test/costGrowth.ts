import { cpuMs } from './cpuMs.ts'

/** How many parts {@link costGrowth} splits an input into. Quadratic work costs this many times more for the whole input than for its parts. */
const PARTS = 32

/** The growth that tests accept: far above that of linear work (1), far below that of quadratic work (32). */
export const ACCEPTED_GROWTH = 8

/** The CPU clock may move in steps of some milliseconds, so short work is repeated until it takes this long. */
const MEASURED_MS = 20

/**
 * Measures how much more CPU time one input takes than 32 inputs that together have its size: about 1 for linear work.
 * Both are measured on the same machine at the same time, so neither a slow nor a busy machine changes the outcome.
 * @param size - The size of the whole input.
 * @param prepare - Builds an input of a given size and returns the function to measure. That function runs many times.
 */
export function costGrowth(size: number, prepare: (size: number) => () => void): number {
  const whole = prepare(size)
  const part = prepare(Math.ceil(size / PARTS))
  const cost = (work: () => void, times: number): number =>
    cpuMs(() => {
      for (let n = 0; n < times; n++) work()
    })
  let times = 1
  while (cost(part, times * PARTS) < MEASURED_MS) times *= 2
  // The minimum of several rounds, because some contain compilation or garbage collection. A growth that is too high is
  // measured in up to 10 rounds: other programs may delay some of them, but quadratic work is slow in each.
  let [wholeMs, partsMs, growth] = [Infinity, Infinity, Infinity]
  for (let round = 0; round < 3 || (round < 10 && growth >= ACCEPTED_GROWTH); round++) {
    partsMs = Math.min(partsMs, cost(part, times * PARTS))
    wholeMs = Math.min(wholeMs, cost(whole, times))
    // A clock that moves in steps may show less for a round than its work took.
    growth = wholeMs / Math.max(partsMs, MEASURED_MS / 4)
  }
  return growth
}
