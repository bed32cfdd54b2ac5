import { createServer } from 'node:http'
import { createFramingCheck } from '../proxy/http/createFramingCheck.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'
import { networkNames } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'
import { createHistogram, metricText } from './metricsText.ts'
import type { Histogram, Sample } from './metricsText.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import type { UpstreamState } from '../proxy/upstream/createUpstreamGroup.ts'
import type { StoreState } from './watchStores.ts'

/** What Prometheus reads, on a port of its own. */
export interface Prometheus {
  /** Counts by what is told to the log. Cheap: it is called for every request. */
  readonly see: (entry: ServiceLogEntry) => void
  /** Counts items of a request. */
  readonly count: (network: Network, method: string, outcome: string, items?: number) => void
  /** All of it, in the text form. */
  readonly text: () => Promise<string>
  /** @throws What listening failed with. */
  readonly listen: (at: { host: string; port: number }) => Promise<number>
  readonly close: () => Promise<void>
}

/** More methods than the schema has; what comes after is counted as `other`. */
const mostMethods = 200
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Whether a Host header, with or without a port, names this machine to itself. */
const isLoopbackName = (host: string | undefined): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host ?? '')

/** Counts by a few labels: one Map a label, so that no text is put together for a count. */
const createCounts = () => {
  const counts = new Map<string, Map<string, Map<string, number>>>()
  const within = <T>(map: Map<string, Map<string, T>>, name: string): Map<string, T> => {
    const known = map.get(name)
    if (known !== undefined) return known
    const made = new Map<string, T>()
    map.set(name, made)
    return made
  }
  return {
    add: ([first, second, third]: readonly [string, string, string], by = 1): void => {
      const last = within<number>(within(counts, first), second)
      last.set(third, (last.get(third) ?? 0) + by)
    },
    samples: ([one, two, three]: readonly [string, string, string]): Sample[] =>
      [...counts].flatMap(([first, seconds]) =>
        [...seconds].flatMap(([second, thirds]) =>
          [...thirds].map(([third, value]) => ({ labels: { [one]: first, [two]: second, [three]: third }, value })),
        ),
      ),
  }
}

/** What gauges are read from. Asked at each scrape, so that a gauge always shows the current state. */
export interface GaugeSources {
  /** Every upstream of the current config. */
  readonly upstreams: () => readonly UpstreamState[]
  /** Every part that the service can do without for a while. */
  readonly parts: () => readonly StoreState[]
  /** How many lines of the log were dropped so far. @default none */
  readonly droppedLogLines?: (() => number) | undefined
}

/** Two samples with the same labels are an error in Prometheus: upstreams that share a name are healthy if all of them are. */
const healthSamples = (upstreams: readonly UpstreamState[]): Sample[] => {
  const samples = new Map<string, Sample>()
  for (const { network, upstream, healthy } of upstreams) {
    const key = `${network}/${upstream}`
    const value = healthy && samples.get(key)?.value !== 0 ? 1 : 0
    samples.set(key, { labels: { network, upstream }, value })
  }
  return [...samples.values()]
}

/** Creates the metrics of a service. Every label has few values: networks, methods of the schema, outcomes, names of upstreams. */
export const createPrometheus = ({ upstreams, parts, droppedLogLines = () => 0 }: GaugeSources): Prometheus => {
  const requests = createCounts()
  const items = createCounts()
  const durations = new Map<Network, Histogram>(networkNames.map((network) => [network, createHistogram(bounds)]))
  const methods = new Set<string>()
  let disconnected = 0
  let outageGranted = 0
  const reloads = { taken: 0, rejected: 0 }
  let own: (() => Promise<string>) | undefined

  const see = (entry: ServiceLogEntry): void => {
    if (entry.event === 'request') {
      const network = entry.network ?? 'none'
      requests.add([network, String(entry.status), entry.reason ?? 'none'])
      if (network !== 'none') durations.get(network)?.observe(entry.durationMs / 1_000)
    } else if (entry.event === 'disconnected') disconnected += 1
    else if (entry.event === 'config') reloads[entry.state] += 1
    else if (entry.event === 'quotaDegraded' && entry.state === 'ended') outageGranted += entry.calls
  }

  const text = async (): Promise<string> => {
    if (own === undefined) {
      // Loaded late: who wants no metrics does not wait for it.
      const { Registry, collectDefaultMetrics } = await import('prom-client')
      const registry = new Registry()
      collectDefaultMetrics({ register: registry })
      own = () => registry.metrics()
    }
    const single = (value: number): Sample[] => [{ labels: {}, value }]
    return [
      metricText({
        name: 'keyrail_requests_total',
        help: 'Requests to the networks, by HTTP status and, where rejected, by reason.',
        type: 'counter',
        samples: requests.samples(['network', 'status', 'reason']),
      }),
      metricText({
        name: 'keyrail_items_total',
        help: 'Calls that came with a known key, items of batches singly, by how they ended.',
        type: 'counter',
        samples: items.samples(['network', 'method', 'outcome']),
      }),
      '# HELP keyrail_request_duration_seconds From the header of a request to the end of its answer.\n# TYPE keyrail_request_duration_seconds histogram\n',
      ...[...durations].map(
        ([network, histogram]) => `${histogram.lines('keyrail_request_duration_seconds', { network }).join('\n')}\n`,
      ),
      metricText({
        name: 'keyrail_disconnected_total',
        help: 'Callers that went away before their answer.',
        type: 'counter',
        samples: single(disconnected),
      }),
      metricText({
        name: 'keyrail_upstream_healthy',
        help: 'Whether an upstream may be used now.',
        type: 'gauge',
        samples: healthSamples(upstreams()),
      }),
      metricText({
        name: 'keyrail_degraded',
        help: 'Whether a part does not work at the moment though calls do.',
        type: 'gauge',
        samples: parts().map(({ name, works }) => ({ labels: { part: name }, value: works ? 0 : 1 })),
      }),
      metricText({
        name: 'keyrail_config_reloads_total',
        help: 'Configs that were read anew while the service ran.',
        type: 'counter',
        samples: Object.entries(reloads).map(([result, value]) => ({ labels: { result }, value })),
      }),
      metricText({
        name: 'keyrail_outage_granted_total',
        help: 'Items accepted without the database, booked afterwards.',
        type: 'counter',
        samples: single(outageGranted),
      }),
      metricText({
        name: 'keyrail_log_lines_dropped_total',
        help: 'Lines of the log that were dropped, because their reader was slow.',
        type: 'counter',
        samples: single(droppedLogLines()),
      }),
      await own(),
    ].join('')
  }

  let loopback = false
  const checkFraming = createFramingCheck()
  const server = createServer((request, response) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') response.writeHead(400, { 'Content-Length': 0 }).end()
    if (framing !== 'answer') return
    // On this machine alone it is for this machine: a page of elsewhere must not reach it under a name of its own.
    if (loopback && !isLoopbackName(request.headers.host)) {
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
    see,
    count: (network, method, outcome, count = 1) => {
      const isKnown = methods.has(method) || methods.size < mostMethods
      if (isKnown) methods.add(method)
      items.add([network, isKnown ? method : 'other', outcome], count)
    },
    text,
    listen: (at) => {
      loopback = isLoopbackName(at.host.includes(':') ? `[${at.host}]` : at.host)
      return listenOn(server, at)
    },
    close: () => stopListening(server, 0),
  }
}
