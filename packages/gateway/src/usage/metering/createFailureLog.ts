import { isStorageError } from '../../errors/storageError.ts'
import type { MeterEvent, MeterWork } from './meter.ts'

/** Reports work that fails and is retried: the first failure of a series, and its end. */
export interface FailureLog {
  failed(error: unknown): void
  succeeded(): void
  /** How many failures there were in all. */
  readonly failures: number
}

/** Creates a log of one kind of work. */
export const createFailureLog = (work: MeterWork, report: (event: MeterEvent) => void): FailureLog => {
  let failures = 0
  /** The failures of the current series. */
  let current = 0
  return {
    failed: (error) => {
      failures += 1
      current += 1
      if (current > 1) return
      // For an error that does not come from the storage, only the name certainly contains no secret.
      const code = isStorageError(error) ? (error.code ?? error.fault) : error instanceof Error ? error.name : undefined
      report({ event: 'meterFailed', work, state: 'started', ...(code === undefined ? {} : { code }) })
    },
    succeeded: () => {
      if (current > 0) report({ event: 'meterFailed', work, state: 'ended', failures: current })
      current = 0
    },
    get failures() {
      return failures
    },
  }
}
