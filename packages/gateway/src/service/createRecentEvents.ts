import type { ServiceLogEntry } from './serviceLog.ts'

/** What changed at an instance: its config, a store or a node. */
export interface RecentEvent {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly kind: 'config' | 'store' | 'upstream'
  /** Of a node. */
  readonly network: string | null
  /** The name of the store or the node; `null` for the config. */
  readonly name: string | null
  /** Such as `applied`, `unavailable` or `lagging`. */
  readonly state: string
  /** Why. */
  readonly reason: string | null
}

/** The state of an instance's config file. */
export interface ConfigState {
  /** When the config in use was applied, in milliseconds since 1970. */
  readonly appliedAt: number
  /** When the file was last rejected since; `null`: never. */
  readonly rejectedAt: number | null
  /** How many faults it has then. */
  readonly faults: number
  /** Changed members that only apply after a restart. */
  readonly needsRestart: readonly string[]
}

/** The last changes of an instance. */
export interface RecentEvents {
  /** Takes a log entry. Most are no change. */
  readonly observe: (entry: ServiceLogEntry) => void
  /** The newest first. */
  readonly list: () => readonly RecentEvent[]
  readonly config: () => ConfigState
}

/** How many of each kind are remembered: a node that fails and recovers all the time must not push out a change of the config. */
const maxOfKind = 20

const toEvent = (entry: ServiceLogEntry): Omit<RecentEvent, 'at'> | undefined => {
  const nothing = { network: null, name: null, reason: null }
  if (entry.event === 'config') return { ...nothing, kind: 'config', state: entry.state }
  if (entry.event === 'store')
    return { ...nothing, kind: 'store', name: entry.store, state: entry.state, reason: entry.code ?? null }
  if (entry.event !== 'upstream') return undefined
  const { network, upstream, state, reason = null } = entry
  return { kind: 'upstream', network, name: upstream, state, reason }
}

/** Creates the memory of an instance that has just started. @param now - Milliseconds since 1970. */
export const createRecentEvents = (now: () => number): RecentEvents => {
  const byKind: Readonly<Record<RecentEvent['kind'], RecentEvent[]>> = { config: [], store: [], upstream: [] }
  let config: ConfigState = { appliedAt: now(), rejectedAt: null, faults: 0, needsRestart: [] }
  return {
    observe: (entry) => {
      const event = toEvent(entry)
      if (event === undefined) return
      const at = now()
      const events = byKind[event.kind]
      events.unshift({ at, ...event })
      if (events.length > maxOfKind) events.pop()
      if (entry.event !== 'config') return
      // The log has the faults, without secrets. Here, their number is enough.
      const { faults = [], needsRestart = [] } = entry
      config =
        entry.state === 'applied'
          ? { appliedAt: at, rejectedAt: null, faults: 0, needsRestart }
          : { ...config, rejectedAt: at, faults: faults.length }
    },
    list: () => [...byKind.config, ...byKind.store, ...byKind.upstream].sort((one, other) => other.at - one.at),
    config: () => config,
  }
}
