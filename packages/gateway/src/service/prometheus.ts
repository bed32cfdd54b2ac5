import type { KeyCacheState } from '../auth/key/createStoredKeys.ts'
import { createDurations } from '../lib/createDurations.ts'
import type { DurationCounter } from '../lib/createDurations.ts'
import type { Network } from '../lib/network.ts'
import type { WebSocketState } from '../proxy/gateway.ts'
import type { GatewayLoad } from '../proxy/gatewayLoad.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { LimitCounts } from '../usage/limits/countDecisions.ts'
import type { MeterStatus } from '../usage/metering/meter.ts'
import type { DropReason } from '../usage/requestLog/createRequestLog.ts'
import { createMetricsServer } from './createMetricsServer.ts'
import type { MetricsServer } from './createMetricsServer.ts'
import { registerBuild } from './registerBuild.ts'
import { registerConfig } from './registerConfig.ts'
import { registerKeys } from './registerKeys.ts'
import { registerLimits } from './registerLimits.ts'
import { registerMetering } from './registerMetering.ts'
import { registerMetric, toHistogramSamples } from './registerMetric.ts'
import type { Sample } from './registerMetric.ts'
import { registerServer } from './registerServer.ts'
import { registerStores } from './registerStores.ts'
import type { StoreLoad } from './registerStores.ts'
import { registerUpstreams } from './registerUpstreams.ts'
import { registerWebSockets } from './registerWebSockets.ts'
import type { ServiceLogEntry } from './serviceLog.ts'

/** The metrics of a service, served to Prometheus on their own port. */
export interface Prometheus extends MetricsServer {
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
  /** All metrics in the text exposition format. */
  readonly text: () => Promise<string>
}

/** The sources of gauges, read at each scrape. */
export interface GaugeSources {
  /** Of Keyrail. @default 'unknown' */
  readonly version?: string | undefined
  /** Every upstream of the current config. */
  readonly upstreams: () => readonly UpstreamState[]
  readonly webSockets: () => WebSocketState
  readonly load: () => GatewayLoad
  readonly keys: () => KeyCacheState
  readonly limits: () => LimitCounts
  readonly stores: () => StoreLoad
  readonly metering: () => MeterStatus
  readonly droppedRequests: () => Readonly<Record<DropReason, number>>
  /** How many log lines were dropped. @default () => 0 */
  readonly droppedLogLines?: (() => number) | undefined
}

/** More methods than the schema has; any further method is counted as `other`. */
const maxMethods = 200

/**
 * Creates the metrics of a service. Every label has few values: networks, methods of the schema, outcomes, upstream names.
 *
 * Requests are counted in Maps and arrays, which prom-client reads at each scrape: its own counters take about 20 times as long per request.
 */
export const createPrometheus = async ({
  version = 'unknown',
  upstreams,
  webSockets,
  load,
  keys,
  limits,
  stores,
  metering,
  droppedRequests,
  droppedLogLines = () => 0,
}: GaugeSources): Promise<Prometheus> => {
  // Imported lazily: most deployments have no metrics endpoint.
  const library = await import('prom-client')
  const { Counter, Registry, collectDefaultMetrics } = library
  const registry = new Registry()
  const registers = [registry]

  const registerCounts = (
    name: string,
    { help, labelNames, counts }: { help: string; labelNames: Labels; counts: Counts },
  ): void => {
    const [one, two, three] = labelNames
    registerMetric(registers, {
      name,
      help,
      type: 'counter',
      samples: () => {
        const samples: Sample[] = []
        counts.each((values, value) =>
          samples.push({ labels: { [one]: values[0], [two]: values[1], [three]: values[2] }, value }),
        )
        return samples
      },
    })
  }

  registerBuild(version, registers)
  const requests = createCounts()
  registerCounts('keyrail_requests_total', {
    help: 'Requests to the networks, by HTTP status and rejection reason.',
    labelNames: ['network', 'status', 'reason'],
    counts: requests,
  })
  const calls = createCounts()
  registerCounts('keyrail_calls_total', {
    help: 'Calls with a known API key, by outcome. Each call of a batch counts.',
    labelNames: ['network', 'method', 'outcome'],
    counts: calls,
  })
  const units = createCounts()
  registerCounts('keyrail_units_total', {
    help: 'The calls of keyrail_calls_total in units of rates and quotas: each counts as the weight of its method.',
    labelNames: ['network', 'method', 'outcome'],
    counts: units,
  })
  const durations = new Map<Network, DurationCounter>()
  const getDurations = (network: Network): DurationCounter => {
    let found = durations.get(network)
    if (found === undefined) durations.set(network, (found = createDurations()))
    return found
  }
  const durationName = 'keyrail_request_duration_seconds'
  registerMetric(registers, {
    name: durationName,
    help: 'Time from the request header to the end of the response.',
    type: 'histogram',
    samples: () =>
      [...durations].flatMap(([network, { read }]) =>
        toHistogramSamples(durationName, read(), { labels: { network } }),
      ),
  })
  const disconnects = new Counter({
    name: 'keyrail_client_disconnects_total',
    help: 'Requests whose client disconnected before the response was ready.',
    registers,
  })
  const closedSockets = registerWebSockets(webSockets, { prometheus: library, registers })
  registerUpstreams(upstreams, { prometheus: library, registers })
  registerServer(load, registers)
  registerKeys(keys, registers)
  registerLimits(limits, registers)
  registerStores(stores, registers)
  const reloaded = registerConfig(Date.now, registers)
  const outageGranted = new Counter({
    name: 'keyrail_outage_granted_total',
    help: 'Units granted while Redis, or without Redis PostgreSQL, was lost, and charged to their quotas later.',
    registers,
  })
  registerMetric(registers, {
    name: 'keyrail_log_lines_dropped_total',
    help: 'Log lines dropped because the log reader was slow.',
    type: 'counter',
    samples: () => [{ value: droppedLogLines() }],
  })
  registerMetric(registers, {
    name: 'keyrail_request_log_dropped_total',
    help: 'Failed or sampled requests that the request log did not record, by reason.',
    type: 'counter',
    samples: () => Object.entries(droppedRequests()).map(([reason, value]) => ({ labels: { reason }, value })),
  })
  registerMetering(metering, { prometheus: library, registers })
  collectDefaultMetrics({ register: registry })

  const methods = new Set<string>()
  const text = (): Promise<string> => registry.metrics()
  const server = createMetricsServer(text)

  return {
    observe: (entry) => {
      if (entry.event === 'request') {
        const network = entry.network ?? 'none'
        requests.add([network, String(entry.status), entry.reason ?? 'none'])
        if (network !== 'none') getDurations(network).add(entry.durationMs / 1_000)
      } else if (entry.event === 'disconnected') disconnects.inc()
      else if (entry.event === 'webSocket') closedSockets(entry)
      else if (entry.event === 'config') reloaded(entry.state)
      else if (entry.event === 'quotaDegraded' && entry.state === 'ended') outageGranted.inc(entry.units)
    },
    countCalls: (network, method, outcome, { calls: count = 1, weight = 1 } = {}) => {
      const isKnown = methods.has(method) || methods.size < maxMethods
      if (isKnown) methods.add(method)
      const labels: Labels = [network, isKnown ? method : 'other', outcome]
      calls.add(labels, count)
      units.add(labels, count * weight)
    },
    text,
    listen: server.listen,
    close: server.close,
  }
}

type Labels = readonly [string, string, string]

/** Counts by three labels. */
interface Counts {
  readonly add: (values: Labels, by?: number) => void
  readonly each: (visit: (values: Labels, count: number) => void) => void
}

/** One Map per label, so that counting concatenates no strings. */
const createCounts = (): Counts => {
  const counts = new Map<string, Map<string, Map<string, number>>>()
  const getOrCreate = <T>(map: Map<string, Map<string, T>>, name: string): Map<string, T> => {
    const known = map.get(name)
    if (known !== undefined) return known
    const created = new Map<string, T>()
    map.set(name, created)
    return created
  }
  return {
    add: ([first, second, third], by = 1) => {
      const last = getOrCreate<number>(getOrCreate(counts, first), second)
      last.set(third, (last.get(third) ?? 0) + by)
    },
    each: (visit) => {
      for (const [first, seconds] of counts)
        for (const [second, thirds] of seconds)
          for (const [third, value] of thirds) visit([first, second, third], value)
    },
  }
}
