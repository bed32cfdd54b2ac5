/** How far an export has come, and how fast it goes. */
export interface ExportProgress {
  readonly blocksDone: number
  readonly blocksTotal: number
  readonly logs: number
}

/** How fast an export goes. */
export interface ExportRate {
  readonly logsPerSecond: number
  /** Undefined while nothing is known. */
  readonly secondsLeft: number | undefined
}

const windowMs = 10_000

/**
 * Makes a measure of the last ten seconds: an average over the whole run would long remember a slow part, and one over a single step jumps.
 *
 * @returns Takes a state and its time in milliseconds, and gives the pace.
 */
export function createRateMeter(): (state: ExportProgress, now: number) => ExportRate {
  const seen: { readonly state: ExportProgress; readonly at: number }[] = []
  return (state, now) => {
    seen.push({ state, at: now })
    while (seen.length > 2 && (seen[1]?.at ?? now) <= now - windowMs) seen.shift()
    const [oldest = { state, at: now }] = seen
    const seconds = (now - oldest.at) / 1_000
    const perSecond = (done: number, before: number): number => (seconds > 0 ? Math.max(0, done - before) / seconds : 0)
    const blocksPerSecond = perSecond(state.blocksDone, oldest.state.blocksDone)
    const left = state.blocksTotal - state.blocksDone
    return {
      logsPerSecond: perSecond(state.logs, oldest.state.logs),
      secondsLeft: left === 0 ? 0 : blocksPerSecond > 0 ? left / blocksPerSecond : undefined,
    }
  }
}
