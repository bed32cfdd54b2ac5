import { getFaultCode } from '../errors/faultLog.ts'
import { timedOut, withTimeout } from '../lib/withTimeout.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** A database or Redis. */
export interface Store {
  readonly name: 'database' | 'redis'
  /** Writes a small value. Rejects if the write fails. */
  readonly ping: () => Promise<unknown>
  /** Whether the service cannot serve calls while `ping` fails with this error. @default () => false */
  readonly isFatal?: (error: unknown) => boolean
}

/** Whether a store is available. */
export interface StoreState {
  readonly name: Store['name']
  readonly isAvailable: boolean
  /** How long the last write took, in milliseconds, or the timeout if it got no response; `null` before the first. */
  readonly checkMs: number | null
}

/** The state of the stores, at most a few seconds old. */
export interface StoreWatch {
  readonly states: () => readonly StoreState[]
  /** The names of the stores that are unavailable. */
  readonly unavailable: () => readonly string[]
  /** The name of an unavailable store without which calls cannot be served. */
  readonly fatal: () => string | undefined
  readonly stop: () => void
}

const intervalMs = 1_000
const timeoutMs = 2_000

type PingResult = { readonly ok: true } | { readonly ok: false; readonly error: unknown } | 'timeout'

/** Has at most one ping of a store in flight, also after that ping timed out. */
const createPing = (ping: Store['ping']): (() => Promise<PingResult>) => {
  let pending: Promise<PingResult> | undefined
  const run = async (): Promise<PingResult> => {
    try {
      await ping()
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
 * Writes to each store every second, to detect a full disk or a read-only database before calls fail.
 * @param log - Called when a store becomes unavailable or available.
 */
export const watchStores = (stores: readonly Store[], log: (entry: ServiceLogEntry) => void): StoreWatch => {
  const unavailable = new Map<Store['name'], { readonly isFatal: boolean }>()
  const durations = new Map<Store['name'], number>()
  let stopped = false
  const timers = new Set<NodeJS.Timeout>()

  const watch = ({ name, ping, isFatal = () => false }: Store): void => {
    const runPing = createPing(ping)
    const check = async (): Promise<void> => {
      const startedAt = performance.now()
      const result = await runPing()
      if (stopped) return
      durations.set(name, performance.now() - startedAt)
      const before = unavailable.get(name)
      if (result === 'timeout') unavailable.set(name, before ?? { isFatal: false })
      else if (result.ok) unavailable.delete(name)
      else unavailable.set(name, { isFatal: isFatal(result.error) })
      if (before === undefined && unavailable.has(name)) {
        const code = result === 'timeout' || result.ok ? 'timeout' : getFaultCode(result.error)
        log({ event: 'store', store: name, state: 'unavailable', code })
      } else if (before !== undefined && !unavailable.has(name))
        log({ event: 'store', store: name, state: 'available' })
      const timer = setTimeout(() => {
        timers.delete(timer)
        void check()
      }, intervalMs).unref()
      timers.add(timer)
    }
    void check()
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
    stop: () => {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
