import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { post } from '../startGateway.ts'
import type { Started } from './manyNetworksProcess.ts'
import { createVisitor } from './visitor.ts'

/** How many times faster the service's timers are than the clock. */
const timeScale = 6
/** A minute of the service, in milliseconds of the clock. */
const minuteMs = 60_000 / timeScale

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** A query of the gateway's own, as a node got it. */
interface Query {
  readonly path: string
  readonly method: string
  /** In milliseconds of the clock. */
  readonly at: number
}

/** Starts a server for the nodes of any number of networks: the path of a node's URL is its chain id. */
const startNodes = async () => {
  const queries: Query[] = []
  const server = createServer((request, response) => {
    const respond = (body: string): void => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      const path = request.url ?? ''
      if (request.headers['user-agent'] === 'keyrail-probe') queries.push({ path, method, at: performance.now() })
      const result = method === 'eth_chainId' ? `0x${Number(path.slice(1)).toString(16)}` : '0x64'
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    text(request).then(respond, () => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  toStop.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, queries }
}

/** Starts a service in a process of its own, and creates an app for some of its networks. */
const start = async (nodeUrl: string, networkCount: number, appNetworks: number) => {
  const child = fork(
    new URL('manyNetworksProcess.ts', import.meta.url),
    [nodeUrl, String(networkCount), String(timeScale)],
    { execArgv: ['--expose-gc', '--conditions=@keyrail/source'] },
  )
  const exited = once(child, 'exit')
  const stop = async () => {
    if (child.connected) child.disconnect()
    await exited
  }
  toStop.push(stop)
  const receive = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error('The service ended.'))),
    ])) as [T]
    return message
  }
  const { url, prometheusPort, startMs } = await receive<Started>()
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const networks = Array.from({ length: appNetworks }, (_, index) => `network-${index}`)
  const { urls } = await visitor.get('POST /api/apps', {
    body: { name: 'Shop', useCase: 'Defi', chain: 'testland', networks, services: ['Node API'] },
  })
  return {
    prometheusPort,
    startMs,
    stop,
    /** Sends a call to each of the app's networks. */
    callAll: async (method: string) => {
      for (const rpcUrl of Object.values(urls)) {
        const { status } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [{}, 'latest'] }))
        expect(status).toBe(200)
        // Below the rate limit of an app.
        await wait(20)
      }
    },
    getHeapBytes: () => {
      child.send('heap')
      return receive<number>()
    },
  }
}

test('a service with 200 networks starts at most 2 s later than one with two, and /metrics is below 2 MB', async () => {
  const nodes = await startNodes()
  const few = await start(nodes.url, 2, 2)
  const startMany = () => start(nodes.url, 200, 200)
  let many = await startMany()
  // Other programs may delay a start, but not each of several.
  for (let attempt = 1; many.startMs - few.startMs >= 2_000 && attempt < 5; attempt += 1) {
    await many.stop()
    many = await startMany()
  }
  for (const method of ['eth_call', 'eth_getBalance', 'eth_gasPrice']) await many.callAll(method)
  const metrics = await (await fetch(`http://127.0.0.1:${many.prometheusPort}/metrics`)).text()
  console.log(`start: ${few.startMs.toFixed()} ms with 2 networks, ${many.startMs.toFixed()} ms with 200`)
  console.log(`/metrics: ${(metrics.length / 1e6).toFixed(2)} MB`)
  expect(many.startMs - few.startMs).toBeLessThan(2_000)
  // Each node has its series, those of calls included.
  expect(metrics.match(/^keyrail_upstream_healthy\{.*\} 1$/gm)).toHaveLength(200)
  expect(metrics.match(/^keyrail_upstream_call_duration_seconds_count\{.*\} 3$/gm)).toHaveLength(200)
  expect(metrics.length).toBeLessThan(2_000_000)
})

/** Gets the times between two queries of a node with the same method, in seconds of the service. */
const getGaps = (queries: readonly Query[]): number[] => {
  const lastAt = new Map<string, number>()
  return queries.flatMap(({ path, method, at }) => {
    const before = lastAt.get(`${path} ${method}`)
    lastAt.set(`${path} ${method}`, at)
    return before === undefined ? [] : [((at - before) * timeScale) / 1_000]
  })
}

test('95 idle networks cost at most 20 MB, and each is queried once a minute', async () => {
  const nodes = await startNodes()
  const few = await start(nodes.url, 5, 5)
  const many = await start(nodes.url, 100, 5)
  const usedPaths = new Set(Array.from({ length: 5 }, (_, index) => `/${1_000_000 + index}`))
  /** Keeps the app's five networks in use. */
  const use = async ({ callAll }: Awaited<ReturnType<typeof start>>, minutes: number) => {
    for (let call = 0; call < minutes * 4; call += 1) await Promise.all([callAll('eth_call'), wait(minuteMs / 4)])
  }
  await Promise.all([use(few, 1.25), use(many, 1.25)])
  const [fewBytes, manyBytes] = [await few.getHeapBytes(), await many.getHeapBytes()]
  await few.stop()
  nodes.queries.length = 0
  await use(many, 2.5)
  const costMb = (manyBytes - fewBytes) / 1e6
  const idle = getGaps(nodes.queries.filter(({ path }) => !usedPaths.has(path)))
  const inUse = getGaps(nodes.queries.filter(({ path }) => usedPaths.has(path)))
  console.log(`95 idle networks: ${costMb.toFixed(1)} MB of heap`)
  console.log(
    `shortest time between queries: ${Math.min(...idle).toFixed(1)} s if idle, ${Math.min(...inUse).toFixed(1)} s if in use`,
  )
  expect(costMb).toBeLessThan(20)
  // `eth_chainId` and `eth_blockNumber`, at least twice each.
  expect(idle.length).toBeGreaterThanOrEqual(95 * 2)
  // A query that a busy machine delays comes closer to the next one.
  expect(Math.min(...idle)).toBeGreaterThan(30)
  expect(Math.min(...inUse)).toBeLessThan(10)
})
