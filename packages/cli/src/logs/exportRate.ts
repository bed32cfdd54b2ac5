/** How far an export is. */
export interface ExportProgress {
  readonly blocksDone: number
  readonly blocksTotal: number
  readonly logs: number
}

/** How fast an export is. */
export interface ExportRate {
  readonly logsPerSecond: number
  /** Undefined while unknown. */
  readonly secondsLeft: number | undefined
}

const windowMs = 10_000

/**
 * Creates a rate meter over the last ten seconds. An average over the whole run would include slow phases for too long, and one over a single
 * step would jump.
 *
 * @returns A function that takes the progress and the time in milliseconds, and returns the rate.
 */
export function createRateMeter(): (progress: ExportProgress, now: number) => ExportRate {
  const samples: { readonly progress: ExportProgress; readonly at: number }[] = []
  return (progress, now) => {
    samples.push({ progress, at: now })
    while (samples.length > 2 && (samples[1]?.at ?? now) <= now - windowMs) samples.shift()
    const [oldest = { progress, at: now }] = samples
    const seconds = (now - oldest.at) / 1_000
    const perSecond = (done: number, before: number): number => (seconds > 0 ? Math.max(0, done - before) / seconds : 0)
    const blocksPerSecond = perSecond(progress.blocksDone, oldest.progress.blocksDone)
    const left = progress.blocksTotal - progress.blocksDone
    return {
      logsPerSecond: perSecond(progress.logs, oldest.progress.logs),
      secondsLeft: left === 0 ? 0 : blocksPerSecond > 0 ? left / blocksPerSecond : undefined,
    }
  }
}
