import type { AlongsideBatch } from './createMeterWriter.ts'

/** A source of statements that are written in the transactions of metering. */
export interface AlongsideSource {
  take(): AlongsideBatch | undefined
}

/** Joins sources into one, which takes from all of them. */
export const joinAlongside = (sources: readonly AlongsideSource[]): AlongsideSource => ({
  take: () => {
    const batches = sources.flatMap((source) => source.take() ?? [])
    if (batches.length === 0) return undefined
    return {
      steps: batches.flatMap(({ steps }) => steps),
      rows: batches.reduce((sum, { rows }) => sum + rows, 0),
      failed: () => {
        for (const batch of batches) batch.failed()
      },
    }
  },
})
