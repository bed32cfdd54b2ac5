import type { Bar } from '../scale/scenario.ts'
import type { SoakInstance } from './startSoakService.ts'

/** The memory and the descriptors of the instance that runs from beginning to end. */
export interface SoakMemory {
  /** Reads what it uses now. */
  readonly sample: () => Promise<void>
  /** Collects its garbage, and reads what is left. */
  readonly collect: () => Promise<void>
  /** @param checksFigures - Whether the run is long enough to check memory. */
  readonly toBars: (checksFigures: boolean) => Bar[]
}

/** The most that an instance takes, by `docs/service/sizing.md`. */
const documentedMb = 300
const mb = (bytes: number): number => Math.round(bytes / 1e6)

/** Creates the checks of memory. @param clients - How many connections callers may have. */
export const createSoakMemory = (instance: SoakInstance, clients: number): SoakMemory => {
  const resident: number[] = []
  const descriptors: number[] = []
  const collected: NodeJS.MemoryUsage[] = []
  return {
    sample: async () => {
      resident.push(await instance.readMetric('process_resident_memory_bytes'))
      descriptors.push(await instance.readMetric('process_open_fds'))
    },
    collect: async () => void collected.push(await instance.readMemoryAfterCollection()),
    toBars: (checksFigures) => {
      const early = descriptors.slice(0, Math.max(1, Math.floor(descriptors.length / 3)))
      // Each client may have a connection to the instance, and one from there to each node.
      const bars = [
        {
          name: 'open descriptors at the end',
          is: descriptors.at(-1) ?? NaN,
          atMost: Math.max(...early) + 3 * clients,
        },
      ]
      const [first, last] = [collected[0], collected.at(-1)]
      if (!checksFigures || first === undefined || last === undefined) return bars
      // During the first round code is compiled and caches fill. A leak of 150 bytes a call would show after 10 minutes.
      const toFlat = (name: string, member: 'heapUsed' | 'rss'): Bar => ({
        name: `MB ${name} after a collection at the end`,
        is: mb(last[member]),
        atMost: mb(first[member]) * 1.1 + 5,
      })
      return [
        ...bars,
        toFlat('of heap', 'heapUsed'),
        toFlat('resident', 'rss'),
        { name: 'MB resident, at most', is: mb(Math.max(...resident)), atMost: documentedMb },
      ]
    },
  }
}
