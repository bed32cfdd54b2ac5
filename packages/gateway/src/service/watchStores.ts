import { describeCause } from '../errors/causes.ts'
import { describeFault } from '../errors/faultLog.ts'
import { timedOut, withTimeout } from '../lib/withTimeout.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** A database, Redis, or the Redis of the chain store. */
export interface Store {
  readonly name: 'database' | 'redis' | 'chainStore'
  /** Does a small write. Rejects if the write fails. */
  readonly check: () => Promise<unknown>
  /** Gets the time until the next check while the store is available, in milliseconds; 1,000 or more. @default () => 1_000 */
  readonly getIntervalMs?: () => number
  /** Whether the service cannot serve calls while `check` fails with this error. @default () => false */
  readonly isFatal?: (error: unknown) => boolean
}

/** Whether a store is available. */
export interface StoreState {
  readonly name: Store['name']
  readonly isAvailable: boolean
  /** How long the last check took, in milliseconds, or the timeout if it got no response; `null` before the first. */
  readonly checkMs: number | null
}

/** The state of the stores, at most a few seconds old. */
export interface StoreWatch {
  readonly states: () => readonly StoreState[]
  /** The names of the stores that are unavailable. */
  readonly unavailable: () => readonly string[]
  /** The name of an unavailable store without which calls cannot be served. */
  readonly fatal: () => string | undefined
  /** Starts another check of this store, at most a second from now. Call it when something indicates that the last result is out of date. */
  readonly checkSoon: (name: Store['name']) => void
  readonly stop: () => void
}

/** The shortest time between the starts of two checks. */
const minIntervalMs = 1_000
const timeoutMs = 2_000

const timeoutCause = (name: Store['name']): { cause?: string } => {
  const cause = describeCause(name === 'database' ? 'postgres' : 'redis', 'timeout')
  return cause === undefined ? {} : { cause }
}

type CheckResult = { readonly ok: true } | { readonly ok: false; readonly error: unknown } | 'timeout'

/** Has at most one check of a store in flight, also after that check timed out. */
const createCheck = (check: Store['check']): (() => Promise<CheckResult>) => {
  let pending: Promise<CheckResult> | undefined
  const run = async (): Promise<CheckResult> => {
    try {
      await check()
      return { ok: true }
    } catch (error) {
      return { ok: false, error }
    } finally {
      pending = undefined
    }
  }
  return async () => {
    pending ??= run()
    const result = await withTimeout(pending, timeoutMs, { unref: true })
    return result === timedOut ? 'timeout' : result
  }
}

/**
 * Checks each store regularly by a write, to detect a full disk or a read-only database before calls fail. An unavailable store is checked every
 * second.
 * @param log - Called when a store becomes unavailable or available.
 */
export const watchStores = (stores: readonly Store[], log: (entry: ServiceLogEntry) => void): StoreWatch => {
  const unavailable = new Map<Store['name'], { readonly isFatal: boolean }>()
  const durations = new Map<Store['name'], number>()
  const watches = new Map<Store['name'], { readonly checkSoon: () => void; readonly stop: () => void }>()
  let stopped = false

  const watch = ({ name, check, getIntervalMs = () => minIntervalMs, isFatal = () => false }: Store): void => {
    const runCheck = createCheck(check)
    let timer: NodeJS.Timeout | undefined
    let dueAt = 0
    let isChecking = false
    /** Whether the check in flight may have started too early. */
    let isAnotherDue = false
    const schedule = (waitMs: number): void => {
      clearTimeout(timer)
      dueAt = performance.now() + waitMs
      timer = setTimeout(() => void run(), waitMs).unref()
    }
    const run = async (): Promise<void> => {
      isChecking = true
      isAnotherDue = false
      const startedAt = performance.now()
      const result = await runCheck()
      isChecking = false
      if (stopped) return
      durations.set(name, performance.now() - startedAt)
      const before = unavailable.get(name)
      if (result === 'timeout') unavailable.set(name, before ?? { isFatal: false })
      else if (result.ok) unavailable.delete(name)
      else unavailable.set(name, { isFatal: isFatal(result.error) })
      if (before === undefined && unavailable.has(name)) {
        const reason =
          result === 'timeout' || result.ok ? { code: 'timeout', ...timeoutCause(name) } : describeFault(result.error)
        log({ event: 'store', store: name, state: 'unavailable', ...reason })
      } else if (before !== undefined && !unavailable.has(name))
        log({ event: 'store', store: name, state: 'available' })
      schedule(isAnotherDue || unavailable.has(name) ? minIntervalMs : getIntervalMs())
    }
    watches.set(name, {
      checkSoon: () => {
        if (isChecking) isAnotherDue = true
        else if (!stopped && dueAt > performance.now() + minIntervalMs) schedule(minIntervalMs)
      },
      stop: () => clearTimeout(timer),
    })
    void run()
  }
  for (const store of stores) watch(store)

  return {
    states: () =>
      stores.map(({ name }) => ({
        name,
        isAvailable: !unavailable.has(name),
        checkMs: durations.get(name) ?? null,
      })),
    unavailable: () => [...unavailable.keys()].toSorted(),
    fatal: () => [...unavailable].find(([, { isFatal }]) => isFatal)?.[0],
    checkSoon: (name) => watches.get(name)?.checkSoon(),
    stop: () => {
      stopped = true
      for (const watched of watches.values()) watched.stop()
    },
  }
}
