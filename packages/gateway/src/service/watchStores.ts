import type { ServiceLogEntry } from './serviceLog.ts'

/** Something that the service leans on, and can do without for a while. */
export interface Store {
  readonly name: 'database' | 'redis'
  /** Rejects where it does not answer. */
  readonly ping: () => Promise<unknown>
}

/** What is known of the stores. */
export interface StoreWatch {
  /** All of them, and whether each works. */
  readonly states: () => readonly StoreState[]
  /** Those that do not answer. */
  readonly gone: () => readonly string[]
  readonly stop: () => void
}

/** Whether a store works. */
export interface StoreState {
  readonly name: string
  readonly works: boolean
}

const everyMs = 2_000
const patienceMs = 2_000

const within = async (work: () => Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms).unref()
  })
  const asked = (async () => {
    try {
      await work()
      return true
    } catch {
      return false
    }
  })()
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Asks the stores every 2 s whether they are there.
 * @param log - Told of each change.
 */
export const watchStores = (stores: readonly Store[], log: (entry: ServiceLogEntry) => void): StoreWatch => {
  const gone = new Set<string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    await Promise.all(
      stores.map(async ({ name, ping }) => {
        const isThere = await within(ping, patienceMs)
        if (stopped || isThere !== gone.has(name)) return
        if (isThere) gone.delete(name)
        else gone.add(name)
        log({ event: 'store', store: name, state: isThere ? 'back' : 'gone' })
      }),
    )
    if (!stopped) timer = setTimeout(() => void look(), everyMs).unref()
  }
  timer = setTimeout(() => void look(), everyMs).unref()
  return {
    states: () => stores.map(({ name }) => ({ name, works: !gone.has(name) })),
    gone: () => [...gone].toSorted(),
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
