import { constants } from 'node:os'
import { isStorageError } from './storageError.ts'

/** The code of an error that may be logged: the storage's own, such as `SQLite 13` or an SQLSTATE, or one of the system, such as EMFILE. */
export const faultCode = (error: unknown): string => {
  if (isStorageError(error)) return error.code ?? error.fault
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // Any other text may hold what was sent.
  return typeof code === 'string' && Object.hasOwn(constants.errno, code) ? code : 'other'
}

/** A log of faults that says each of them at most once a second. */
export interface FaultLog<Fault> {
  readonly log: (fault: Fault) => void
  /** Logs what was held back. */
  readonly flush: () => void
}

/**
 * Creates a log that passes on the first fault of a kind at once and counts the others of that second. After the second it passes on the
 * last of them with their number as `count`. So a full disk costs a line a second, and not a line for each call that it fails.
 * @param write - Writes a fault.
 * @param kindOf - Faults of the same kind are counted together. There must be few kinds.
 * @param everyMs - How long faults of a kind are counted, in milliseconds. @default 1_000
 */
export const createFaultLog = <Fault extends { readonly count: number }>(
  write: (fault: Fault) => void,
  kindOf: (fault: Fault) => string,
  everyMs = 1_000,
): FaultLog<Fault> => {
  /** The kinds that were logged within the last second, each with the fault that was held back since. */
  const recent = new Map<string, { held: Fault | undefined; readonly timer: NodeJS.Timeout }>()
  const log = (fault: Fault): void => {
    const kind = kindOf(fault)
    const state = recent.get(kind)
    if (state !== undefined) {
      state.held = { ...fault, count: (state.held?.count ?? 0) + fault.count }
      return
    }
    const timer = setTimeout(() => {
      const held = recent.get(kind)?.held
      recent.delete(kind)
      if (held !== undefined) log(held)
    }, everyMs)
    recent.set(kind, { held: undefined, timer: timer.unref() })
    write(fault)
  }
  return {
    log,
    flush: () => {
      const states = [...recent.values()]
      recent.clear()
      for (const { held, timer } of states) {
        clearTimeout(timer)
        if (held !== undefined) write(held)
      }
    },
  }
}
