import { constants } from 'node:os'
import { describeCause, getRedisCode } from './causes.ts'
import { isStorageError } from './storageError.ts'

/**
 * Gets a code that is safe to log: one of the storage, such as `SQLite 13` or an SQLSTATE, of Redis, such as WRONGPASS, or of the system, such as
 * EMFILE. Otherwise `other`.
 */
export const getFaultCode = (error: unknown): string => {
  if (isStorageError(error)) return error.code ?? error.fault
  const redis = getRedisCode(error)
  if (redis !== undefined) return redis
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // Any other text may contain data of a request.
  return typeof code === 'string' && Object.hasOwn(constants.errno, code) ? code : 'other'
}

/** Gets the code of an error, and its cause in words if it is known. Both are safe to log. */
export const describeFault = (error: unknown): { readonly code: string; readonly cause?: string } => {
  const code = getFaultCode(error)
  const cause = isStorageError(error)
    ? describeCause(code.startsWith('SQLite ') ? 'sqlite' : 'postgres', code)
    : (describeCause('redis', code) ?? describeCause('file', code))
  return { code, ...(cause === undefined ? {} : { cause }) }
}

/** A log of faults that writes each kind at most once a second. */
export interface FaultLog<Fault> {
  readonly log: (fault: Fault) => void
  /** Writes the pending faults. */
  readonly flush: () => void
}

/**
 * Creates a log that writes the first fault of a kind immediately and counts further faults for a second. Then it writes the last of them,
 * with their number as `count`. So a full disk produces one line a second, and not one for each failed call.
 * @param write - Writes a fault.
 * @param getKind - Gets the kind of a fault. Faults of the same kind are counted together. There must be few kinds.
 * @param everyMs - How long faults of a kind are counted, in milliseconds. @default 1_000
 */
export const createFaultLog = <Fault extends { readonly count: number }>(
  write: (fault: Fault) => void,
  getKind: (fault: Fault) => string,
  everyMs = 1_000,
): FaultLog<Fault> => {
  /** The kinds written within the last second, each with the pending fault. */
  const recent = new Map<string, { pending: Fault | undefined; readonly timer: NodeJS.Timeout }>()
  const log = (fault: Fault): void => {
    const kind = getKind(fault)
    const state = recent.get(kind)
    if (state !== undefined) {
      state.pending = { ...fault, count: (state.pending?.count ?? 0) + fault.count }
      return
    }
    const timer = setTimeout(() => {
      const pending = recent.get(kind)?.pending
      recent.delete(kind)
      if (pending !== undefined) log(pending)
    }, everyMs)
    recent.set(kind, { pending: undefined, timer: timer.unref() })
    write(fault)
  }
  return {
    log,
    flush: () => {
      const states = [...recent.values()]
      recent.clear()
      for (const { pending, timer } of states) {
        clearTimeout(timer)
        if (pending !== undefined) write(pending)
      }
    },
  }
}
