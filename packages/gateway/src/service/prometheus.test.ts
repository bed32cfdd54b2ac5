import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { maxMethodNames } from '../lib/methods.ts'
import { createPrometheus } from './prometheus.ts'
import type { Prometheus } from './prometheus.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'

const toStop: Prometheus[] = []
afterEach(async () => {
  for (const one of toStop.splice(0)) await one.close()
})

const idle: Omit<UpstreamState, 'upstream' | 'healthy'> = {
  network: 'mainnet',
  status: 'healthy',
  breakerOpen: false,
  head: null,
  lag: null,
  inFlight: 0,
  latencyMs: null,
  reason: null,
  outcomes: new Map(),
  durations: { counts: Array.from({ length: 15 }, () => 0), sum: 0 },
  disputes: 0,
  budgets: [],
  units: 0,
}

const start = async () => {
  const prometheus = await createPrometheus({
    upstreams: () => [
      { ...idle, upstream: 'main-"1"', healthy: false },
      {
        ...idle,
        upstream: 'main-2',
        healthy: true,
        breakerOpen: true,
        head: 1_000,
        lag: 3,
        inFlight: 2,
        latencyMs: 12,
        outcomes: new Map([
          ['result', 5],
          ['timeout', 1],
        ] as const),
        durations: { counts: [4, 0, ...Array.from({ length: 12 }, () => 0), 2], sum: 60.5 },
        disputes: 2,
        units: 130,
        budgets: [{ name: 'maxRequestsPerDay', limit: 100, left: 94 }],
      },
    ],
    webSockets: () => ({
      connections: new Map([['mainnet', 3]]),
      subscriptions: new Map([['mainnet', { newHeads: 2, logs: 5, newPendingTransactions: 0, syncing: 0 }]]),
      notifications: new Map([['mainnet', new Map([['logs', 40]] as const)]]),
      incompleteBlocks: new Map([['mainnet', 2]]),
    }),
    version: '1.2.3',
    load: () => ({
      connections: 7,
      maxConnections: 10_000,
      requests: 6,
      bufferedBytes: 5,
      bufferedByKind: { requests: 1, messages: 0, subscriptions: 2, notifications: 0, chain: 2 },
      largestShareBytes: 3,
      maxBufferedBytes: 4,
      queues: [{ network: 'mainnet', active: 128, queued: 9 }],
      confirmations: [['mainnet', { agreed: 7, outvoted: 2, disagreed: 1, few: 3 }]],
      saved: [['mainnet', { cache: 11, inFlight: 12 }]],
    }),
    keys: () => ({ entries: 3, maxEntries: 100, hits: 20, misses: 4 }),
    limits: () => ({
      decisions: { granted: 50, rate: 4, day: 3, month: 2, unavailable: 1 },
      waits: { counts: [1, 2, ...Array.from({ length: 10 }, () => 0), 3], sum: 9.5 },
      waiting: 8,
    }),
    stores: () => ({
      stores: [
        { name: 'database', isAvailable: true, checkMs: 3 },
        { name: 'redis', isAvailable: false, checkMs: null },
      ],
      pool: { active: 4, idle: 6, waiting: 2, max: 10 },
      redisPending: 11,
    }),
    metering: () => ({
      lagMs: 1_500,
      backlogRows: 3,
      rollUpLagMs: 90_000,
      lostCalls: 4,
      skippedRows: 5,
      failures: { write: 6, rollUp: 7 },
    }),
    droppedRequests: () => ({ keyLimit: 8, limit: 9, buffer: 0, mask: 0, storage: 10 }),
  })
  toStop.push(prometheus)
  const port = await prometheus.listen({ host: '127.0.0.1', port: 0 })
  return { prometheus, url: `http://127.0.0.1:${port}` }
}

describe('prometheus', () => {
  test('serves counters, histograms and gauges at /metrics only', async () => {
    const { prometheus, url } = await start()
    prometheus.observe({ event: 'request', requestId: '1', network: 'testnet', status: 200, durationMs: 3 })
    prometheus.observe({ event: 'request', requestId: '2', network: 'testnet', status: 200, durationMs: 40_000 })
    prometheus.observe({ event: 'request', requestId: '3', status: 404, reason: 'not_found', durationMs: 1 })
    prometheus.countCalls('testnet', 'eth_call', 'succeeded')
    prometheus.countCalls('testnet', 'eth_call', 'succeeded')
    prometheus.countCalls('testnet', 'eth_getLogs', 'succeeded', { calls: 2, weight: 75 })
    const webSocket = { event: 'webSocket', requestId: '4', network: 'mainnet', keyId: 'key' } as const
    prometheus.observe({ ...webSocket, state: 'opened' })
    const usage = { code: 1006, requests: 1, notifications: 2, durationMs: 3 }
    prometheus.observe({ ...webSocket, ...usage, state: 'closed', reason: 'slow_reader' })
    prometheus.observe({ event: 'config', state: 'rejected' })
    const text = await (await fetch(`${url}/metrics`)).text()
    for (const line of [
      'keyrail_websocket_connections{network="mainnet"} 3',
      'keyrail_subscriptions{network="mainnet",kind="logs"} 5',
      'keyrail_notifications_total{network="mainnet",kind="logs"} 40',
      'keyrail_websocket_closed_total{network="mainnet",reason="slow_reader"} 1',
      'keyrail_requests_total{network="testnet",status="200",reason="none"} 2',
      'keyrail_requests_total{network="none",status="404",reason="not_found"} 1',
      'keyrail_calls_total{network="testnet",method="eth_call",outcome="succeeded"} 2',
      'keyrail_calls_total{network="testnet",method="eth_getLogs",outcome="succeeded"} 2',
      'keyrail_units_total{network="testnet",method="eth_call",outcome="succeeded"} 2',
      'keyrail_units_total{network="testnet",method="eth_getLogs",outcome="succeeded"} 150',
      'keyrail_request_duration_seconds_bucket{network="testnet",le="0.0025"} 0',
      'keyrail_request_duration_seconds_bucket{network="testnet",le="0.005"} 1',
      'keyrail_request_duration_seconds_bucket{network="testnet",le="+Inf"} 2',
      'keyrail_request_duration_seconds_count{network="testnet"} 2',
      String.raw`keyrail_upstream_healthy{network="mainnet",upstream="main-\"1\""} 0`,
      'keyrail_upstream_healthy{network="mainnet",upstream="main-2"} 1',
      'keyrail_upstream_in_flight{network="mainnet",upstream="main-2"} 2',
      'keyrail_upstream_head_block{network="mainnet",upstream="main-2"} 1000',
      'keyrail_upstream_lag_blocks{network="mainnet",upstream="main-2"} 3',
      'keyrail_upstream_breaker_open{network="mainnet",upstream="main-2"} 1',
      'keyrail_upstream_latency_seconds{network="mainnet",upstream="main-2"} 0.012',
      'keyrail_upstream_budget_left{network="mainnet",upstream="main-2",limit="maxRequestsPerDay"} 94',
      'keyrail_upstream_calls_total{network="mainnet",upstream="main-2",outcome="result"} 5',
      'keyrail_upstream_calls_total{network="mainnet",upstream="main-2",outcome="timeout"} 1',
      'keyrail_upstream_call_duration_seconds_bucket{network="mainnet",upstream="main-2",le="0.001"} 4',
      'keyrail_upstream_call_duration_seconds_bucket{network="mainnet",upstream="main-2",le="30"} 4',
      'keyrail_upstream_call_duration_seconds_bucket{network="mainnet",upstream="main-2",le="+Inf"} 6',
      'keyrail_upstream_call_duration_seconds_sum{network="mainnet",upstream="main-2"} 60.5',
      'keyrail_upstream_call_duration_seconds_count{network="mainnet",upstream="main-2"} 6',
      `keyrail_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
      'keyrail_http_connections 7',
      'keyrail_http_max_connections 10000',
      'keyrail_http_requests_in_flight 6',
      'keyrail_buffered_bytes 5',
      'keyrail_buffered_bytes_by_kind{kind="subscriptions"} 2',
      'keyrail_buffered_bytes_largest_owner 3',
      'keyrail_max_buffered_bytes 4',
      'keyrail_calls_queued{network="mainnet"} 9',
      'keyrail_call_slots_used{network="mainnet"} 128',
      'keyrail_key_cache_entries 3',
      'keyrail_key_cache_max_entries 100',
      'keyrail_key_cache_hits_total 20',
      'keyrail_key_cache_misses_total 4',
      'keyrail_limit_decisions_total{result="granted"} 50',
      'keyrail_limit_decisions_total{result="unavailable"} 1',
      'keyrail_limit_wait_seconds_bucket{le="0.0005"} 1',
      'keyrail_limit_wait_seconds_bucket{le="2.5"} 3',
      'keyrail_limit_wait_seconds_bucket{le="+Inf"} 6',
      'keyrail_limit_wait_seconds_sum 9.5',
      'keyrail_limit_wait_seconds_count 6',
      'keyrail_limit_waiting_requests 8',
      'keyrail_store_check_duration_seconds{part="database"} 0.003',
      'keyrail_database_connections{state="active"} 4',
      'keyrail_database_connections{state="idle"} 6',
      'keyrail_database_max_connections 10',
      'keyrail_database_waiting_requests 2',
      'keyrail_redis_pending_commands 11',
      'keyrail_config_reloads_total{result="applied"} 0',
      'keyrail_config_reloads_total{result="rejected"} 1',
      'keyrail_config_last_reload_successful 0',
      'keyrail_degraded{part="database"} 0',
      'keyrail_degraded{part="redis"} 1',
      'keyrail_metering_lag_seconds 1.5',
      'keyrail_metering_backlog_rows 3',
      'keyrail_metering_rollup_lag_seconds 90',
      'keyrail_metering_lost_calls_total 4',
      'keyrail_metering_skipped_rows_total 5',
      'keyrail_metering_failures_total{work="write"} 6',
      'keyrail_metering_failures_total{work="rollUp"} 7',
      'keyrail_request_log_dropped_total{reason="keyLimit"} 8',
      'keyrail_request_log_dropped_total{reason="storage"} 10',
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).toMatch(/^process_cpu_user_seconds_total /m)
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(404)
  })

  test('accepts only loopback host names on a loopback interface', async () => {
    const { url } = await start()
    const { port } = new URL(url)
    const getStatus = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}/metrics`, { headers: { host }, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.on('error', reject)
        sent.end()
      })
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect(await getStatus(host)).toBe(200)
    for (const host of [`evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.evil.example`])
      expect(await getStatus(host)).toBe(421)
  })

  test('counts methods beyond the limit as "other"', async () => {
    const { prometheus } = await start()
    for (let index = 0; index < maxMethodNames + 800; index += 1)
      prometheus.countCalls('testnet', `method_${index}`, 'succeeded')
    const lines = (await prometheus.text()).split('\n').filter((line) => line.startsWith('keyrail_calls_total{'))
    expect(lines).toHaveLength(maxMethodNames + 1)
    expect(lines).toContain('keyrail_calls_total{network="testnet",method="other",outcome="succeeded"} 800')
  })
})

describe('deploy/', () => {
  const deploy = join(import.meta.dirname, '../../../../deploy')
  /** What Prometheus adds. */
  const addedLabels = ['job', 'instance']

  test.each(['prometheus/alerts.yaml', 'grafana/keyrail.json'])(
    '%s uses only metrics and labels that the service has',
    async (file) => {
      const { prometheus } = await start()
      prometheus.observe({ event: 'request', requestId: '1', network: 'testnet', status: 200, durationMs: 3 })
      prometheus.countCalls('testnet', 'eth_call', 'succeeded')
      const text = await prometheus.text()
      const named = [...text.matchAll(/^(?:# TYPE )?([a-z][a-z0-9_]+)(?=[{ ])/gm)].map(([, name]) => name)
      // One without an observation, such as that of garbage collections, has no samples yet.
      const histograms = [...text.matchAll(/^# TYPE (\w+) histogram$/gm)].map(([, name]) => name)
      const ofHistograms = histograms.flatMap((name) => [`${name}_bucket`, `${name}_sum`, `${name}_count`])
      const metrics = new Set([...named, ...ofHistograms])
      const labels = new Set([...text.matchAll(/[{,]([a-z_]+)="/g)].map(([, name]) => name).concat(addedLabels))

      const used = readFileSync(join(deploy, file), 'utf8').replaceAll(String.raw`\"`, '"')
      const usedMetrics = [...used.matchAll(/\b(?:keyrail|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name)
      const selectors = [...used.matchAll(/[a-z_]\{([^{}$]*(?:\$network[^{}]*)?)\}/g)].map(([, inside = '']) => inside)
      const matched = selectors.flatMap((inside) => [...inside.matchAll(/([a-z_]+)(?:=|!)/g)].map(([, name]) => name))
      const grouped = [...used.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
      expect(usedMetrics.length).toBeGreaterThan(10)
      expect(matched.length).toBeGreaterThan(3)
      expect(grouped.length).toBeGreaterThan(5)
      expect(usedMetrics.filter((name) => !metrics.has(name))).toEqual([])
      expect([...matched, ...grouped].filter((name) => !labels.has(name))).toEqual([])
    },
  )
})

test('the documents name every metric of the service, and no other', async () => {
  const docs = join(import.meta.dirname, '../../../../docs/service')
  const { prometheus } = await start()
  const served = [...(await prometheus.text()).matchAll(/^# TYPE (keyrail_\w+)/gm)].map(([, name]) => name)
  const text = ['monitoring.md', 'operating.md', 'subscriptions.md']
    .map((file) => readFileSync(join(docs, file), 'utf8'))
    .join('\n')
  const named = new Set([...text.matchAll(/\bkeyrail_[a-z_]+/g)].map(([name]) => name))
  expect(served.length).toBeGreaterThan(40)
  expect(served.filter((name) => !named.has(name ?? ''))).toEqual([])
  expect([...named].filter((name) => !served.includes(name))).toEqual([])
})
