import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceConfigInput } from '@keyrail/gateway/test/internal.ts'
import { startServe, writeConfig } from '@keyrail/gateway/test/service/serviceProcess.ts'
import type { LogLine, ServiceProcess } from '@keyrail/gateway/test/service/serviceProcess.ts'
import { startTcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import type { TcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import { startRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import type { TestRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import { createVisitor } from '@keyrail/gateway/test/visitor.ts'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'
import type { Servers } from '../scale/openServers.ts'
import { readMemoryAfterCollection } from './readMemoryAfterCollection.ts'
import type { Target } from './startLoad.ts'
import { soakChainId, startSoakNode } from './startSoakNode.ts'
import type { Received, SoakNode } from './startSoakNode.ts'

/** One process of `keyrail serve`. */
export interface SoakInstance extends Target {
  readonly index: number
  /** Kills the process with SIGKILL. */
  readonly kill: () => Promise<void>
  /** Stops the process with SIGTERM, and waits until it has completed its calls. Adds a problem if it fails. */
  readonly stop: () => Promise<void>
  /** Starts it again. @param program - Another build. @default this one */
  readonly start: (program?: string) => Promise<void>
  /** Writes its config, with changes, and waits until it has applied or rejected it. */
  readonly reload: (changes: Partial<ServiceConfigInput> | 'invalid') => Promise<void>
  /** Reads a metric, by its name and its labels as they are in the exposition. */
  readonly readMetric: (name: string) => Promise<number>
  /** Collects its garbage, and reads the memory that it still uses. */
  readonly readMemoryAfterCollection: () => Promise<NodeJS.MemoryUsage>
  /** The response of `/readyz`; `undefined` if there is none. */
  readonly readState: () => Promise<unknown>
}

/** Three instances on PostgreSQL and Redis, with two nodes. */
export interface SoakService {
  readonly instances: readonly SoakInstance[]
  readonly nodes: readonly SoakNode[]
  readonly redis: TestRedis
  readonly redisProxy: TcpProxy
  readonly databaseProxy: TcpProxy
  /** Leads to PostgreSQL directly. */
  readonly databaseUrl: string
  /** What went wrong with processes. */
  readonly problems: readonly string[]
  /** Creates a user with one key. @param perDay - Its daily limit; `null`: none. */
  readonly createUser: (email: string, perDay: number | null) => Promise<{ id: string; path: string }>
  readonly close: () => Promise<void>
}

const size = 3
/** How often the balancer checks `/readyz`, in milliseconds. */
const pollMs = 100
/** How long a stopping instance still accepts calls, in milliseconds: the balancer must have noticed by then, on a busy machine too. */
const drainDelayMs = 10_000
/** How long a process may take for what was asked of it, in milliseconds. */
const patienceMs = 60_000

/** Waits until `look` returns something. */
export const waitUntil = async <T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`not seen within ${patienceMs} ms: ${what}`)
    await wait(50)
  }
}

const withPort = (url: string, port: number): string => {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
const toPort = (url: string): number => Number(new URL(url).port)

const isReload = ({ event, state }: LogLine): boolean =>
  event === 'config' && (state === 'applied' || state === 'rejected')

/** Starts the stores, the nodes and the instances. @param received - The nodes add the calls that they receive. */
export const startSoakService = async (servers: Servers, received: Received): Promise<SoakService> => {
  const stops: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  }
  const problems: string[] = []
  const startInstance = async (
    index: number,
    createConfig: (port: number, metricsPort: number) => ServiceConfigInput,
    folder: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<SoakInstance> => {
    const [port, metricsPort, inspectorPort] = [await getFreePort(), await getFreePort(), await getFreePort()]
    const name = `instance-${index}`
    const config = createConfig(port, metricsPort)
    const write = (members: Partial<ServiceConfigInput>): string =>
      writeConfig(folder, { ...config, ...members }, `${name}.json`)
    let running: ServiceProcess | undefined
    const getRunning = (): ServiceProcess => {
      if (running === undefined) throw new Error(`${name} is not running`)
      return running
    }
    const readState = async (): Promise<unknown> => {
      try {
        return await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()
      } catch {
        return undefined
      }
    }
    const stop = async (): Promise<void> => {
      if (running === undefined) return
      const stopping = running
      const { exitCode, signal, stderr } = await stopping.stop()
      running = undefined
      if (exitCode !== 0) problems.push(`${name} stopped with ${exitCode ?? signal}: ${stderr}`)
      for (const { event } of stopping.lines())
        if (event === 'meterLost' || event === 'quotaLost') problems.push(`${name} logged ${event}`)
    }
    stops.push(() => void running?.child.kill('SIGKILL'))
    const instance: SoakInstance = {
      index,
      name,
      port,
      isReady: false,
      kill: async () => {
        await getRunning().stop('SIGKILL')
        running = undefined
      },
      stop,
      start: async (program) => {
        const options = { ...environment, NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` }
        running = await startServe(write({}), options, program)
        void running.child.once('exit', (code) => {
          if (code !== 0 && code !== null) problems.push(`${name} exited with ${code}`)
        })
        await waitUntil(`${name} is ready`, () => (instance.isReady ? true : undefined))
      },
      reload: async (changes) => {
        const { lines } = getRunning()
        const before = lines().filter(isReload).length
        write(changes === 'invalid' ? { publicUrl: 'nowhere' } : changes)
        await waitUntil(`${name} reloads`, () => (lines().filter(isReload).length > before ? true : undefined))
      },
      readMetric: async (metric) => {
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        const line = text.split('\n').find((one) => one.startsWith(`${metric} `))
        return Number(line?.slice(metric.length + 1))
      },
      readMemoryAfterCollection: () => readMemoryAfterCollection(inspectorPort),
      readState,
    }
    return instance
  }

  try {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-soak-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const [databaseUrl, redis] = await Promise.all([servers.createDatabase(), startRedis()])
    stops.push(redis.stop)
    const databaseProxy = await startTcpProxy(toPort(databaseUrl))
    stops.push(databaseProxy.close)
    const redisProxy = await startTcpProxy(toPort(redis.url))
    stops.push(redisProxy.close)
    const nodes = await Promise.all([startSoakNode(received), startSoakNode(received)])
    for (const node of nodes) stops.push(node.stop)

    const operatorToken = randomBytes(32).toString('base64url')
    const environment = {
      KEYRAIL_SECRET: randomBytes(48).toString('base64url'),
      KEYRAIL_OPERATOR_TOKEN: operatorToken,
      DATABASE_URL: withPort(databaseUrl, databaseProxy.port),
      REDIS_URL: withPort(redis.url, redisProxy.port),
      // As docs/service/sizing.md says.
      MALLOC_TRIM_THRESHOLD_: '131072',
    }
    const instances: SoakInstance[] = []
    for (let index = 0; index < size; index += 1)
      instances.push(
        await startInstance(
          index,
          (port, metricsPort) => ({
            publicUrl: `http://127.0.0.1:${port}`,
            listen: { port },
            prometheus: { port: metricsPort },
            signUp: 'open',
            logRequests: false,
            drainDelayMs,
            // Otherwise a limit may be exceeded by what is granted while Redis is lost.
            outageGrant: 0,
            limits: { apiKeys: { perSecond: null, perDay: null } },
            bounds: { upstreamTimeoutMs: 5_000 },
            networks: {
              testnet: {
                chain: 'testland',
                chainId: soakChainId,
                upstreams: nodes.map(({ url }, node) => ({ url, name: `node-${node}` })),
              },
            },
          }),
          folder,
          environment,
        ),
      )
    let isClosed = false
    const polling = Promise.all(
      instances.map(async (instance) => {
        while (!isClosed) {
          try {
            instance.isReady = (await fetch(`http://127.0.0.1:${instance.port}/readyz`)).status === 200
          } catch {
            instance.isReady = false
          }
          await wait(pollMs)
        }
      }),
    )
    stops.push(() => {
      isClosed = true
      return polling
    })
    // One creates the tables.
    for (const instance of instances) await instance.start()

    const origin = `http://127.0.0.1:${instances[0]?.port}`
    const operator = createVisitor(origin)
    return {
      instances,
      nodes,
      redis,
      redisProxy,
      databaseProxy,
      databaseUrl,
      problems,
      createUser: async (email, perDay) => {
        const visitor = createVisitor(origin)
        const password = randomBytes(12).toString('base64url')
        const { account } = await visitor.get('POST /api/account', { body: { email, password } })
        const { status, text } = await operator.request(
          'PUT',
          `/api/admin/users/${account.id}/limits`,
          { limits: { perDay } },
          { authorization: `Bearer ${operatorToken}` },
        )
        if (status !== 200) throw new Error(`the limits were not set: ${status} ${text}`)
        const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
        return { id: account.id, path: new URL(address).pathname }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
