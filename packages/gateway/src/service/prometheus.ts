import { createServer } from 'node:http'
import type { Histogram } from 'prom-client'
import type { Network } from '../lib/network.ts'
import { createFramingCheck } from '../proxy/http/createFramingCheck.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'
import type { WebSocketState } from '../proxy/gateway.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { MeterStatus } from '../usage/metering/meter.ts'
import { registerMetering } from './registerMetering.ts'
import { registerUpstreams } from './registerUpstreams.ts'
import { registerWebSockets } from './registerWebSockets.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import type { StoreState } from './watchStores.ts'

/** The metrics of a service, served to Prometheus on their own port. */
export interface Prometheus {
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
  /** @throws The error of `listen`. */
  readonly listen: (at: { host: string; port: number }) => Promise<number>
  readonly close: () => Promise<void>
}

/** Where gauges are read from at each scrape. */
export interface GaugeSources {
  /** Every upstream of the current config. */
  readonly upstreams: () => readonly UpstreamState[]
  readonly webSockets: () => WebSocketState
  /** The database and, if there is one, Redis. */
  readonly stores: () => readonly StoreState[]
  readonly metering: () => MeterStatus
  /** How many log lines were dropped. @default () => 0 */
  readonly droppedLogLines?: (() => number) | undefined
}

/** More methods than the schema has; any further method is counted as `other`. */
const maxMethods = 200
/** In seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Creates the metrics of a service. Every label has few values: networks, methods of the schema, outcomes, upstream names.
 *
 * Requests are counted in Maps and arrays, which prom-client reads at each scrape: its own counters take about 20 times as long per request.
 */
export const createPrometheus = async ({
  upstreams,
  webSockets,
  stores,
  metering,
  droppedLogLines = () => 0,
}: GaugeSources): Promise<Prometheus> => {
  // Imported lazily: most deployments have no metrics endpoint.
  const library = await import('prom-client')
  const { Counter, Gauge, Registry, collectDefaultMetrics } = library
  const registry = new Registry()
  const registers = [registry]

  const registerCounts = (
    name: string,
    { help, labelNames, counts }: { help: string; labelNames: Labels; counts: Counts },
  ): void => {
    const [one, two, three] = labelNames
    const counter = new Counter({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        counter.reset()
        counts.each((values, count) => counter.inc({ [one]: values[0], [two]: values[1], [three]: values[2] }, count))
      },
    })
  }
  const registerGauge = (
    name: string,
    { help, labelNames, samples }: { help: string; labelNames: readonly string[]; samples: () => readonly Sample[] },
  ): void => {
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        gauge.reset()
        for (const { labels, value } of samples()) gauge.set(labels, value)
      },
    })
  }

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
  const durations = new Map<Network, Durations>()
  const getDurations = (network: Network): Durations => {
    let found = durations.get(network)
    if (found === undefined) durations.set(network, (found = createDurations()))
    return found
  }
  registry.registerMetric(
    toHistogram(durations, {
      name: 'keyrail_request_duration_seconds',
      help: 'Time from the request header to the end of the response.',
    }),
  )
  const disconnects = new Counter({
    name: 'keyrail_client_disconnects_total',
    help: 'Requests whose client disconnected before the response was ready.',
    registers,
  })
  const closedSockets = registerWebSockets(webSockets, { prometheus: library, registers })
  registerUpstreams(upstreams, { prometheus: library, registers })
  registerGauge('keyrail_degraded', {
    help: 'Whether the database or Redis is unavailable: 1 if so, else 0.',
    labelNames: ['part'],
    samples: () => stores().map(({ name, isAvailable }) => ({ labels: { part: name }, value: isAvailable ? 0 : 1 })),
  })
  const reloads = new Counter({
    name: 'keyrail_config_reloads_total',
    help: 'Config reloads, by result.',
    labelNames: ['result'],
    registers,
  })
  for (const result of ['applied', 'rejected']) reloads.inc({ result }, 0)
  const outageGranted = new Counter({
    name: 'keyrail_outage_granted_total',
    help: 'Units granted while Redis, or without Redis PostgreSQL, was lost, and charged to their quotas later.',
    registers,
  })
  const dropped = new Counter({
    name: 'keyrail_log_lines_dropped_total',
    help: 'Log lines dropped because the log reader was slow.',
    registers,
    collect: () => {
      dropped.reset()
      dropped.inc(droppedLogLines())
    },
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
        if (network !== 'none') getDurations(network).observe(entry.durationMs / 1_000)
      } else if (entry.event === 'disconnected') disconnects.inc()
      else if (entry.event === 'webSocket') closedSockets(entry)
      else if (entry.event === 'config') reloads.inc({ result: entry.state })
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

/** One value of a metric, with its labels. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
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

/** Durations counted by bucket. */
interface Durations {
  readonly observe: (seconds: number) => void
  readonly read: () => { readonly buckets: Float64Array; readonly sum: number }
}

const createDurations = (): Durations => {
  const buckets = new Float64Array(durationBuckets.length + 1)
  let sum = 0
  return {
    observe: (seconds) => {
      let bucket = 0
      while (bucket < durationBuckets.length && seconds > (durationBuckets[bucket] ?? 0)) bucket += 1
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      sum += seconds
    },
    read: () => ({ buckets, sum }),
  }
}

/** A metric for prom-client's registry, which calls `get` at each scrape. Its own `Histogram` only accepts one observation at a time. */
const toHistogram = (
  durations: ReadonlyMap<Network, Durations>,
  { name, help }: { name: string; help: string },
): Histogram => {
  const get = async (): Promise<object> => {
    const values = [...durations].flatMap(([network, { read }]) => {
      const { buckets, sum } = read()
      let count = 0
      const cumulative = [...durationBuckets, '+Inf'].map((le, index) => {
        count += buckets[index] ?? 0
        return { metricName: `${name}_bucket`, labels: { network, le }, value: count }
      })
      return [
        ...cumulative,
        { metricName: `${name}_sum`, labels: { network }, value: sum },
        { metricName: `${name}_count`, labels: { network }, value: count },
      ]
    })
    return { name, help, type: 'histogram', values }
  }
  return { name, get } as unknown as Histogram
}

/** Whether a Host header, with or without a port, names the loopback interface. */
const isLoopbackName = (host: string | undefined): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host ?? '')

/** Serves `/metrics`. On a loopback interface it also checks the Host header, so that a web page cannot reach it by DNS rebinding. */
const createMetricsServer = (text: () => Promise<string>): Pick<Prometheus, 'listen' | 'close'> => {
  let isLoopback = false
  const checkFraming = createFramingCheck()
  const server = createServer((request, response) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') response.writeHead(400, { 'Content-Length': 0 }).end()
    if (framing !== 'accept') return
    if (isLoopback && !isLoopbackName(request.headers.host)) {
      response.writeHead(421, { 'Content-Length': 0 }).end()
      return
    }
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end()
      return
    }
    text().then(
      (body) => response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body),
      () => response.writeHead(500).end(),
    )
  })
  return {
    listen: (at) => {
      isLoopback = isLoopbackName(at.host.includes(':') ? `[${at.host}]` : at.host)
      return listenOn(server, at)
    },
    close: () => stopListening(server, 0),
  }
}
