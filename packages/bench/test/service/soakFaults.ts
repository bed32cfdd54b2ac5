import { setTimeout as wait } from 'node:timers/promises'
import type { SoakLoad } from './startLoad.ts'
import type { SoakInstance, SoakService } from './startSoakService.ts'

/** What a fault acts on. */
export interface FaultContext {
  readonly service: SoakService
  readonly load: SoakLoad
  /** An instance that may be killed or replaced. The first one runs from beginning to end. */
  readonly instance: SoakInstance
  /** Waits until so many calls have ended that the fault was noticed. */
  readonly hold: () => Promise<void>
  /** Reports an instance that was killed. @param lagMs - How old its oldest count was that was not written. @param since - When that was, by `performance.now()`: later calls may not be written. */
  readonly onKill: (instance: SoakInstance, lagMs: number, since: number) => void
  /** Reports that Redis is about to lose its data. */
  readonly onEmpty: () => void
  /** The `keyrail` command of the previous build; `undefined`: git does not have it. */
  readonly previous: string | undefined
}

/** Something that happens to a service. It is over when `run` resolves. */
export interface Fault {
  readonly name: string
  /** What calls may result in while it lasts. */
  readonly allows: readonly string[]
  /** Whether units may stay charged for calls that no node received: those in flight. @default false */
  readonly forfeits?: boolean
  readonly run: (context: FaultContext) => Promise<void>
}

/** Neither Redis nor PostgreSQL could decide. */
export const stores = ['503 key_store_unavailable']
/** No node gave a valid response. */
const upstream = ['503 no_upstream', '503 upstream_busy', '504 upstream_timeout', '502 upstream_bad']

const replace = async (instance: SoakInstance, program?: string): Promise<void> => {
  await instance.stop()
  await instance.start(program)
}

const toNodeFault = (
  name: string,
  state: Parameters<SoakService['nodes'][number]['set']>[0],
  count: number,
): Fault => ({
  name,
  allows: upstream,
  forfeits: state === 'closed',
  run: async ({ service, hold }) => {
    const chosen = service.nodes.slice(0, count)
    for (const node of chosen) await node.set(state)
    await hold()
    for (const node of chosen) await node.set('works')
  },
})

const toProxyFault = (
  name: string,
  of: 'redisProxy' | 'databaseProxy',
  start: (proxy: SoakService['redisProxy']) => void,
): Fault => ({
  name,
  allows: stores,
  forfeits: of === 'redisProxy',
  run: async ({ service, hold }) => {
    start(service[of])
    await hold()
    service[of].fix()
  },
})

/** Everything that happens to the service. */
export const soakFaults: readonly Fault[] = [
  {
    name: 'an instance is killed',
    allows: ['cut ', ...stores],
    forfeits: true,
    run: async ({ instance, hold, onKill }) => {
      const readAt = performance.now()
      const lagMs = (await instance.readMetric('keyrail_metering_lag_seconds')) * 1_000
      await instance.kill()
      onKill(instance, lagMs, readAt - lagMs)
      await hold()
      await instance.start()
    },
  },
  { name: 'an instance restarts', allows: [], run: async ({ instance }) => replace(instance) },
  {
    name: 'the previous build takes the place of an instance, and this one takes it back',
    allows: [],
    run: async ({ instance, hold, previous }) => {
      if (previous === undefined) return
      await replace(instance, previous)
      await hold()
      await replace(instance)
    },
  },
  {
    name: 'the config is reloaded',
    allows: [],
    run: async ({ service, hold }) => {
      for (const { reload } of service.instances) await reload({ bounds: { upstreamTimeoutMs: 6_000 } })
      await hold()
      for (const { reload } of service.instances) await reload({})
    },
  },
  {
    name: 'an invalid config is rejected',
    allows: [],
    run: async ({ service, hold }) => {
      for (const { reload } of service.instances) await reload('invalid')
      await hold()
      for (const { reload } of service.instances) await reload({})
    },
  },
  {
    name: 'Redis hangs',
    allows: stores,
    forfeits: true,
    run: async ({ service, hold }) => {
      service.redis.hang()
      await hold()
      service.redis.resume()
    },
  },
  {
    name: 'Redis starts again empty',
    allows: stores,
    forfeits: true,
    run: async ({ service, hold, onEmpty }) => {
      onEmpty()
      await service.redis.kill()
      await hold()
      await service.redis.start()
    },
  },
  toProxyFault('Redis is slow', 'redisProxy', ({ slow }) => slow(300)),
  toProxyFault('Redis is lost', 'redisProxy', ({ cut }) => cut()),
  toProxyFault('PostgreSQL is slow', 'databaseProxy', ({ slow }) => slow(300)),
  toProxyFault('PostgreSQL hangs', 'databaseProxy', ({ hang }) => hang()),
  toProxyFault('PostgreSQL is lost', 'databaseProxy', ({ cut }) => cut()),
  toNodeFault('a node responds with errors', 'errors', 1),
  toNodeFault('a node responds with garbage', 'garbage', 1),
  toNodeFault('a node hangs', 'hangs', 1),
  toNodeFault('a node closes connections', 'drops', 1),
  toNodeFault('all nodes close connections', 'drops', 2),
  toNodeFault('the ports of all nodes are closed', 'closed', 2),
]

/** Waits until a number of calls have ended. */
export const holdFor = async (load: SoakLoad, calls: number): Promise<void> => {
  const until = load.ended() + calls
  while (load.ended() < until) await wait(20)
}
