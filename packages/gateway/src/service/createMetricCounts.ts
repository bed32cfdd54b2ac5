import { createDurations } from '../lib/createDurations.ts'
import type { DurationCounter, Durations } from '../lib/createDurations.ts'
import { maxMethodNames } from '../lib/methods.ts'
import type { Network } from '../lib/network.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** A value, and the values of the metric's labels in their order. */
export type MetricValue<Value = number> = readonly [value: Value, ...labels: readonly string[]]

/** What was counted without labels, or rarely. */
interface CountState {
  disconnects: number
  /** By network and reason. */
  readonly closedSockets: Map<string, Map<string, number>>
  readonly reloads: { applied: number; rejected: number }
  isConfigApplied: boolean
  /** In milliseconds since 1970. */
  configAppliedAt: number
  /** In units. */
  outageGranted: number
}

/** Counts what no other part of the service counts, such as requests, calls, closed WebSockets and reloads of the config. */
export interface MetricCounts {
  /** Counts a log entry. Cheap: it runs for every request. */
  readonly observe: (entry: ServiceLogEntry) => void
  /**
   * Counts calls of a request.
   * @param more.calls - @default 1
   * @param more.weight - How many requests each of them counts as. @default 1
   */
  readonly countCalls: (
    network: Network,
    method: string,
    outcome: string,
    more?: { readonly calls?: number | undefined; readonly weight?: number | undefined },
  ) => void
  /** By network, status and reason. */
  readonly requests: () => readonly MetricValue[]
  /** By network, method and outcome. */
  readonly calls: () => readonly MetricValue[]
  /** By network, method and outcome. */
  readonly units: () => readonly MetricValue[]
  /** By network. */
  readonly durations: () => readonly MetricValue<Durations>[]
  readonly state: Readonly<CountState>
}

/** Creates the counts of a service: Maps and arrays rather than prom-client's counters, because each request is counted. */
export const createMetricCounts = (): MetricCounts => {
  const requests = createCounts()
  const calls = createCounts()
  const units = createCounts()
  const durations = new Map<Network, DurationCounter>()
  const methods = new Set<string>()
  const state: CountState = {
    disconnects: 0,
    closedSockets: new Map(),
    reloads: { applied: 0, rejected: 0 },
    isConfigApplied: true,
    configAppliedAt: Date.now(),
    outageGranted: 0,
  }
  return {
    observe: (entry) => {
      if (entry.event === 'request') {
        const network = entry.network ?? 'none'
        requests.add([network, String(entry.status), entry.reason ?? 'none'])
        if (network !== 'none') getOrCreate(durations, network, createDurations).add(entry.durationMs / 1_000)
      } else countRare(state, entry)
    },
    countCalls: (network, method, outcome, { calls: count = 1, weight = 1 } = {}) => {
      const isKnown = methods.has(method) || methods.size < maxMethodNames
      if (isKnown) methods.add(method)
      const labels: Labels = [network, isKnown ? method : 'other', outcome]
      calls.add(labels, count)
      units.add(labels, count * weight)
    },
    requests: requests.read,
    calls: calls.read,
    units: units.read,
    durations: () => [...durations].map(([network, { read }]) => [read(), network]),
    state,
  }
}

const countRare = (state: CountState, entry: ServiceLogEntry): void => {
  if (entry.event === 'disconnected') state.disconnects += 1
  else if (entry.event === 'webSocket' && entry.state === 'closed') {
    const reasons = getOrCreate(state.closedSockets, entry.network, createMap<number>)
    reasons.set(entry.reason, (reasons.get(entry.reason) ?? 0) + 1)
  } else if (entry.event === 'config') {
    state.reloads[entry.state] += 1
    state.isConfigApplied = entry.state === 'applied'
    if (state.isConfigApplied) state.configAppliedAt = Date.now()
  } else if (entry.event === 'quotaDegraded' && entry.state === 'ended') state.outageGranted += entry.units
}

const getOrCreate = <Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value => {
  let found = map.get(key)
  if (found === undefined) map.set(key, (found = create()))
  return found
}

const createMap = <Value>(): Map<string, Value> => new Map()

type Labels = readonly [string, string, string]

/** Counts by three labels. */
interface Counts {
  readonly add: (values: Labels, by?: number) => void
  readonly read: () => readonly MetricValue[]
}

/** One Map per label, so that counting concatenates no strings. */
const createCounts = (): Counts => {
  const counts = new Map<string, Map<string, Map<string, number>>>()
  return {
    add: ([first, second, third], by = 1) => {
      const last = getOrCreate(getOrCreate(counts, first, createMap<Map<string, number>>), second, createMap<number>)
      last.set(third, (last.get(third) ?? 0) + by)
    },
    read: () =>
      [...counts].flatMap(([first, seconds]) =>
        [...seconds].flatMap(([second, thirds]) =>
          [...thirds].map(([third, count]): MetricValue => [count, first, second, third]),
        ),
      ),
  }
}
