import { randomBytes } from 'node:crypto'
import { Agent, request as startRequest } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServiceConfigInput } from '../../src/index.ts'
import { result } from '../fakeUpstream.ts'
import { openSocket } from '../socket/openSocket.ts'
import { getFreePort } from '../getFreePort.ts'
import { clusters, places } from './places.ts'
import type { PlaceKind } from './places.ts'
import type { LogLine } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

// Each test starts five processes from source.
const [sqlite] = places
if (sqlite === undefined) throw new Error('no test environment')

/** PostgreSQL without Redis. */
const postgres: readonly PlaceKind[] = clusters.map(({ open }) => ({
  name: 'PostgreSQL',
  open: async () => {
    const place = await open()
    const { REDIS_URL: _, ...environment } = place.environment
    return { ...place, environment }
  },
}))

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const workers = 4

interface Started extends TestService {
  readonly visitor: Visitor
  readonly url: string
  readonly keyId: string
  readonly address: string
}

const isStarted = ({ event, state }: LogLine): boolean => event === 'worker' && state === 'started'

const start = async (members: Partial<ServiceConfigInput> = {}, place: PlaceKind = sqlite): Promise<Started> => {
  const service = await startTestService(place, members, {}, ['--workers', String(workers)])
  toStop.push(service.close)
  await expect.poll(() => service.process.lines().filter(isStarted).length).toBe(workers)
  const visitor = createVisitor(service.url)
  const password = randomBytes(12).toString('base64url')
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password } })
  const { key, url: address } = await visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
  return { ...service, visitor, keyId: key.id, address }
}

interface Seen {
  readonly sentAt: number
  readonly doneAt: number
  /** 0: the connection was lost. */
  readonly status: number
}

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}'

const callOnce = (agent: Agent, url: string, text = body): Promise<Seen> =>
  new Promise((resolve) => {
    const sentAt = performance.now()
    const end = (status: number): void => resolve({ sentAt, doneAt: performance.now(), status })
    const request = startRequest(
      url,
      { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume()
        response.on('end', () => end(response.statusCode ?? 0))
        response.on('error', () => end(0))
      },
    )
    request.on('error', () => end(0))
    request.end(text)
  })

/** Calls over connections that the primary spreads over the workers, until `stop`. */
const startLoad = (url: string, { connections = 8, pauseMs = 0 } = {}) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const seen: Seen[] = []
  let isStopped = false
  const loop = async (): Promise<void> => {
    while (!isStopped) {
      seen.push(await callOnce(agent, url))
      if (pauseMs > 0) await pass(pauseMs)
    }
  }
  const loops = Promise.all(Array.from({ length: connections }, loop))
  return {
    seen,
    count: (status: number): number => seen.filter((one) => one.status === status).length,
    stop: async (): Promise<readonly Seen[]> => {
      isStopped = true
      await loops
      agent.destroy()
      return seen
    },
  }
}

const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** By how many calls a period had more than burst and rate, counting only calls that were certainly decided within it. */
const findExcess = (seen: readonly Seen[], { perSecond, burst }: { perSecond: number; burst: number }): number => {
  const granted = seen.filter(({ status }) => status === 200)
  const byEnd = granted.toSorted((one, other) => one.doneAt - other.doneAt)
  let most = -Infinity
  for (const { sentAt } of granted) {
    let count = 0
    for (const one of byEnd) {
      if (one.sentAt < sentAt) continue
      count += 1
      most = Math.max(most, count - burst - ((one.doneAt - sentAt) / 1_000) * perSecond)
    }
  }
  return most
}

const getMetric = async (port: number, name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))))
  if (values.length === 0) throw new Error(`no metric ${name}`)
  return values.reduce((sum, value) => sum + value, 0)
}

describe('keyrail serve --workers', () => {
  test.each(places)('all workers together grant a key its rate: never more, and at least 95 %', async (place) => {
    // Low enough that callers exceed it on a slow machine too.
    const rate = { perSecond: 20, burst: 40 }
    const service = await start({ limits: { apiKeys: { ...rate, perDay: null } } }, place)
    const load = startLoad(service.address, { pauseMs: 5 })
    await expect.poll(() => load.count(429)).toBeGreaterThan(0)
    const usedUpAt = performance.now()
    await pass(8_000)
    const seconds = (performance.now() - usedUpAt) / 1_000
    const later = load.seen.filter(({ status, doneAt }) => status === 200 && doneAt >= usedUpAt)
    const seen = await load.stop()
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect(findExcess(seen, rate)).toBeLessThanOrEqual(1)
    expect(later.length).toBeGreaterThanOrEqual(0.95 * rate.perSecond * seconds - 1)
    const usedBy = new Set(
      service.process
        .lines()
        .flatMap(({ event, worker, status }) => (event === 'request' && status === 200 ? [worker] : [])),
    )
    expect(usedBy.size).toBe(workers)
  })

  test.each([sqlite, ...postgres])('all workers together grant exactly the quota', async (place) => {
    const perDay = 600
    const service = await start({ limits: { apiKeys: { perSecond: null, perDay } } }, place)
    const load = startLoad(service.address)
    await expect.poll(() => load.count(403)).toBeGreaterThan(800)
    await load.stop()
    expect(load.count(200)).toBe(perDay)
    // What is left unused is returned, at the latest when the account has been idle for 10 s.
    const { day } = await service.visitor.get('GET /api/usage')
    expect(day.used).toBe(perDay)
  })

  test('replaces a killed worker; rates hold, and no counter falls', async () => {
    const prometheus = { port: await getFreePort() }
    const rate = { perSecond: 20, burst: 60 }
    const service = await start({ prometheus, limits: { apiKeys: { ...rate, perDay: null } } })
    const load = startLoad(service.address, { pauseMs: 5 })
    await expect.poll(() => load.count(429)).toBeGreaterThan(20)
    const before = await getMetric(prometheus.port, 'keyrail_requests_total')
    const [killed] = service.process.lines().filter(isStarted).toReversed()
    process.kill(Number(killed?.['pid']), 'SIGKILL')
    const crash = await service.process.logged('a crash', ({ state }) => state === 'crashed')
    expect(crash).toMatchObject({
      worker: killed?.['worker'],
      signal: 'SIGKILL',
      exitCode: null,
      restartInMs: 100,
      level: 'warn',
    })
    expect(await getMetric(prometheus.port, 'keyrail_requests_total')).toBeGreaterThanOrEqual(before)
    await expect.poll(() => service.process.lines().filter(isStarted).length).toBe(workers + 1)
    await expect.poll(() => getMetric(prometheus.port, 'keyrail_workers')).toBe(workers)
    const seen = await load.stop()
    expect(findExcess(seen, rate)).toBeLessThanOrEqual(1)
    expect(await getMetric(prometheus.port, 'keyrail_worker_crashes_total')).toBe(1)
    // Only the calls in flight on the killed worker are lost.
    expect(load.count(0)).toBeLessThanOrEqual(8)
  })

  test('a call whose connection a killed worker had not accepted does not wait forever', async () => {
    const { process: primary, address } = await start()
    const pids = primary
      .lines()
      .filter(isStarted)
      .map(({ pid }) => Number(pid))
    // Each of them is passed one connection.
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const agent = new Agent()
    toStop.push(() => agent.destroy())
    const calls = pids.map(() => callOnce(agent, address))
    const countConnected = (): number =>
      Object.values(agent.sockets).flatMap((sockets = []) => sockets.filter(({ connecting }) => !connecting)).length
    await expect.poll(countConnected).toBe(pids.length)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    for (const { status } of await Promise.all(calls)) expect([0, 200]).toContain(status)
  })

  test('sums the metrics of all workers, and each serves the control API', async () => {
    const prometheus = { port: await getFreePort() }
    const service = await start({ prometheus })
    const load = startLoad(service.address)
    await expect.poll(() => load.count(200)).toBeGreaterThan(200)
    const seen = await load.stop()
    await expect.poll(() => getMetric(prometheus.port, 'keyrail_calls_total')).toBe(seen.length)
    expect(await getMetric(prometheus.port, 'keyrail_request_duration_seconds_count')).toBe(seen.length)
    expect(await getMetric(prometheus.port, 'keyrail_workers')).toBe(workers)
    expect(await getMetric(prometheus.port, 'keyrail_upstream_healthy')).toBe(2)
    expect(await getMetric(prometheus.port, 'keyrail_build_info')).toBe(1)
    // Each request is a connection of its own.
    const statuses = await Promise.all(
      Array.from({ length: workers * 2 }, async () => {
        const { status } = await service.visitor.request('GET', '/api/keys', undefined, { connection: 'close' })
        return status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Metering is written by all workers.
    await expect
      .poll(async () => (await service.visitor.get('GET /api/usage')).day.used, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(seen.length)
  })

  test('a revoked key is rejected by all workers within about a second, and its WebSockets close within 5', async () => {
    const service = await start()
    const sockets = await Promise.all(Array.from({ length: workers * 2 }, () => openSocket(service.address)))
    toStop.push(() => sockets.forEach(({ ws }) => ws.terminate()))
    const load = startLoad(service.address, { pauseMs: 20 })
    await expect.poll(() => load.count(200)).toBeGreaterThan(20)
    await service.visitor.get('POST /api/keys/{keyId}/revoke', { params: { keyId: service.keyId } })
    const revokedAt = performance.now()
    const closed = await Promise.all(sockets.map(({ closed: end }) => end))
    expect(performance.now() - revokedAt).toBeLessThan(5_000)
    expect(new Set(closed.map(({ reason }) => reason))).toEqual(new Set(['key_revoked']))
    const seen = await load.stop()
    const last = Math.max(...seen.filter(({ status }) => status === 200).map(({ sentAt }) => sentAt))
    expect(last - revokedAt).toBeLessThan(1_500)
  })

  test('a reload applies to all workers; if it needs a restart, they are replaced without a failed call', async () => {
    const service = await start()
    const load = startLoad(service.address, { pauseMs: 5 })
    const isApplied = ({ event, state }: LogLine): boolean => event === 'config' && state === 'applied'
    service.process.child.kill('SIGHUP')
    await expect.poll(() => service.process.lines().filter(isApplied).length).toBe(workers)
    service.change({ outageGrant: 7 })
    await expect.poll(() => service.process.lines().filter(isStarted).length, { timeout: 90_000 }).toBe(workers * 2)
    await expect
      .poll(
        () => service.process.lines().filter(({ event, state }) => event === 'worker' && state === 'stopped').length,
      )
      .toBe(workers)
    const seen = await load.stop()
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('no worker outlives the primary process', async () => {
    const service = await start()
    const pids = service.process
      .lines()
      .filter(isStarted)
      .map(({ pid }) => Number(pid))
    await service.process.stop('SIGKILL')
    const isRunning = (pid: number): boolean => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    await expect.poll(() => pids.filter(isRunning)).toEqual([])
  })

  test('SIGTERM completes the requests in flight of all workers, and exits with code 0', async () => {
    const service = await start()
    let inFlight = 0
    service.nodes.testnet.behave = (call, response) => {
      inFlight += 1
      setTimeout(() => response.end(result(call, 'null')), 700)
      return undefined
    }
    const agent = new Agent({ keepAlive: true })
    toStop.push(() => agent.destroy())
    const calls = Array.from({ length: 8 }, (_, index) =>
      // Identical reads would share one request to the node.
      callOnce(agent, service.address, body.replace('latest', `0x${index + 1}`)).then(({ status }) => status),
    )
    await expect.poll(() => inFlight).toBe(calls.length)
    const ended = service.process.stop()
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
    expect(await ended).toMatchObject({ exitCode: 0, stderr: '' })
    const states = service.process.lines().flatMap(({ event, state }) => (event === 'worker' ? [state] : []))
    expect(states).toEqual([
      ...Array.from({ length: workers }, () => 'started'),
      ...Array.from({ length: workers }, () => 'stopped'),
    ])
  })
})
