import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { chainIds, post } from '../startGateway.ts'
import { clusters, sqlite } from './places.ts'
import type { PlaceKind } from './places.ts'
import type { ServiceProcess } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const plan = { maxRequestsPerDay: 6_000, maxUnitsPerDay: 120_000 }
const weights = { eth_call: 26, eth_chainId: 0, '*': 20 }

interface Call {
  readonly id: number
  readonly method: keyof typeof weights
}

interface Provider {
  readonly url: string
  /** All that it was sent, also by the service itself. */
  readonly sent: () => { readonly requests: number; readonly units: number }
}

/** Starts a provider that counts each call as its plan does. */
const startProvider = async (): Promise<Provider> => {
  let [requests, units] = [0, 0]
  const respond = ({ id, method }: Call): object => {
    requests += 1
    units += weights[method] ?? weights['*']
    const own: Record<string, unknown> = { eth_chainId: `0x${chainIds.testnet.toString(16)}`, eth_syncing: false }
    return { jsonrpc: '2.0', id, result: own[method] ?? '0x10' }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
      response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => ({ requests, units }) }
}

/** PostgreSQL, without Redis. */
const postgresOnly: readonly PlaceKind[] = clusters.map((cluster) => ({
  name: 'PostgreSQL alone',
  open: async () => {
    const place = await cluster.open()
    const { REDIS_URL: _redis, ...environment } = place.environment
    return { ...place, environment }
  },
}))

const kinds: readonly (readonly [name: string, kind: PlaceKind, instances: number])[] = [
  ...clusters.map((kind) => [kind.name, kind, 3] as const),
  ...postgresOnly.map((kind) => [kind.name, kind, 3] as const),
  [sqlite.name, sqlite, 1],
]

describe.each(kinds)('the plan of a provider on %s', needs('redis-server'), (_, kind, count) => {
  test('is never exceeded by all instances, and at most 1 % of it is unused, with kills, a stop and a reload', async () => {
    const provider = await startProvider()
    const network = {
      chain: 'testland',
      chainId: chainIds.testnet,
      upstreams: [{ url: provider.url, name: 'plan', weights, ...plan }],
    }
    const networks = { testnet: network }
    const limits = { apiKeys: { perSecond: null, burst: 100_000, perDay: null } }
    const service = await startTestService(kind, { networks, limits })
    onTestFinished(async () => void (await service.close()))
    const instances: ServiceProcess[] = [service.process]
    while (instances.length < count) instances.push(await service.startAnother())
    const visitor = createVisitor(service.url)
    await visitor.get('POST /api/account', {
      body: { email: 'ann@example.org', password: randomBytes(12).toString('base64url') },
    })
    const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })

    let calls = 0
    const call = async (instance: ServiceProcess, method: string): Promise<string> => {
      calls += 1
      const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":["0x${calls.toString(16).padStart(40, '0')}","latest"]}`
      const { status, text } = await post(address.replace(service.url, instance.url), body)
      return status === 200 ? 'sent' : (/"reason":"(\w+)"/.exec(text)?.[1] ?? text)
    }
    /** Sends calls to all instances until a part of the plan is used. */
    const loadUntil = async (part: number): Promise<void> => {
      const isDone = (): boolean => provider.sent().units >= plan.maxUnitsPerDay * part
      const callers = Array.from({ length: 24 }, async (_caller, index) => {
        for (let turn = index; !isDone(); turn += 1) {
          const instance = instances[turn % instances.length] as ServiceProcess
          const ended = await call(instance, turn % 3 === 0 ? 'eth_call' : 'eth_getBalance').catch(() => 'cut')
          if (ended === 'cut') await wait(20)
        }
      })
      await Promise.all(callers)
    }
    const replace = async (at: number, signal: NodeJS.Signals): Promise<void> => {
      const before = instances[at] as ServiceProcess
      // A kill in the middle of calls, which the load ends with.
      await before.stop(signal)
      instances[at] = await service.startAnother()
    }
    const loadAndReplace = async (part: number, at: number, signal: NodeJS.Signals): Promise<void> => {
      await loadUntil(part)
      await Promise.all([loadUntil(part + 0.05), replace(at, signal)])
    }

    await loadAndReplace(0.2, count - 1, 'SIGKILL')
    await loadUntil(0.4)
    service.change({ networks: { testnet: { ...network, hedgeMs: 5_000 } } })
    await loadAndReplace(0.5, Math.min(1, count - 1), 'SIGKILL')
    await loadAndReplace(0.65, count - 1, 'SIGTERM')
    await loadAndReplace(0.8, count - 1, 'SIGKILL')
    await loadUntil(0.98)

    // The rest, until each instance has rejected the cheapest call several times in a row.
    for (let rejected = 0; rejected < 4 * count;) {
      const ends = await Promise.all(instances.map((instance) => call(instance, 'eth_getBalance')))
      expect(['sent', 'upstream_busy']).toEqual(expect.arrayContaining([...new Set(ends)]))
      rejected = ends.includes('sent') ? 0 : rejected + count
      // How long an instance believes that the others return nothing.
      if (rejected > 0) await wait(600)
    }
    const { requests, units } = provider.sent()
    expect(requests).toBeLessThanOrEqual(plan.maxRequestsPerDay)
    expect(units).toBeLessThanOrEqual(plan.maxUnitsPerDay)
    expect(units).toBeGreaterThanOrEqual(plan.maxUnitsPerDay * 0.99)
  }, 200_000)
})
