import { getFaultCode } from '../errors/faultLog.ts'
import { timedOut, withTimeout } from '../lib/withTimeout.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** Something that the service stores things in, and can do without for a while. */
export interface Store {
  readonly name: 'database' | 'redis'
  /** Writes something small. Rejects if the store does not take it. */
  readonly ping: () => Promise<unknown>
  /** Whether the service cannot serve calls while `ping` fails with this error. @default never */
  readonly isFatal?: (error: unknown) => boolean
}

/** Whether a store works. */
export interface StoreState {
  readonly name: string
  readonly works: boolean
}

/** What is known of the stores, from the last second or so. */
export interface StoreWatch {
  /** All of them, and whether each works. */
  readonly states: () => readonly StoreState[]
  /** Those that do not work. */
  readonly gone: () => readonly string[]
  /** One without which calls cannot be served, if it does not work. */
  readonly fatal: () => string | undefined
  readonly stop: () => void
}

const everyMs = 1_000
const patienceMs = 2_000

type Ping = { readonly works: true } | { readonly works: false; readonly error: unknown } | 'late'

/** Keeps at most one ping of a store in flight, however long it takes. */
const createPing = (ping: Store['ping']): (() => Promise<Ping>) => {
  let pending: Promise<Ping> | undefined
  const run = async (): Promise<Ping> => {
    try {
      await ping()
      return { works: true }
    } catch (error) {
      return { works: false, error }
    } finally {
      pending = undefined
    }
  }
  return async () => {
    pending ??= run()
    const result = await withTimeout(pending, patienceMs, { unref: true })
    return result === timedOut ? 'late' : result
  }
}

/**
 * Writes to each store every second, so that a full disk or a read-only database is noticed before calls fail.
 * @param log - Called at each change.
 */
export const watchStores = (stores: readonly Store[], log: (entry: ServiceLogEntry) => void): StoreWatch => {
  /** Those that do not work, and whether calls cannot be served without them. */
  const gone = new Map<string, { readonly fatal: boolean }>()
  let stopped = false
  const timers = new Set<NodeJS.Timeout>()

  const watch = ({ name, ping, isFatal = () => false }: Store): void => {
    const check = createPing(ping)
    const look = async (): Promise<void> => {
      const result = await check()
      if (stopped) return
      const failed = gone.has(name)
      if (result === 'late') gone.set(name, gone.get(name) ?? { fatal: false })
      else if (result.works) gone.delete(name)
      else gone.set(name, { fatal: isFatal(result.error) })
      if (gone.has(name) && !failed) {
        const code = result === 'late' || result.works ? 'late' : getFaultCode(result.error)
        log({ event: 'store', store: name, state: 'gone', code })
      } else if (failed && !gone.has(name)) log({ event: 'store', store: name, state: 'back' })
      const timer = setTimeout(() => {
        timers.delete(timer)
        void look()
      }, everyMs).unref()
      timers.add(timer)
    }
    void look()
  }
  for (const store of stores) watch(store)

  return {
    states: () => stores.map(({ name }) => ({ name, works: !gone.has(name) })),
    gone: () => [...gone.keys()].toSorted(),
    fatal: () => [...gone].find(([, { fatal }]) => fatal)?.[0],
    stop: () => {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
