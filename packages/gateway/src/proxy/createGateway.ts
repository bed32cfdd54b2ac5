import { setTimeout } from 'node:timers/promises'
import { createFaultLog } from '../errors/faultLog.ts'
import { allBufferedBytes, getBufferedByKind, getLargestShare } from '../lib/memoryBudget.ts'
import type { Network } from '../lib/network.ts'
import { getListeningUrl } from '../lib/publicUrl.ts'
import { createHttpServer } from './caller/http/createHttpServer.ts'
import type { HttpServer } from './caller/http/createHttpServer.ts'
import { createHubs } from './caller/webSocket/createHubs.ts'
import type { Hubs } from './caller/webSocket/createHubs.ts'
import { createSocketServer } from './caller/webSocket/createSocketServer.ts'
import type { SocketServer } from './caller/webSocket/createSocketServer.ts'
import { createPermits } from '../usage/limits/createPermits.ts'
import type { PermitStore } from '../usage/limits/createPermits.ts'
import { createContextFactory } from './createContextFactory.ts'
import type { Phase } from './createContextFactory.ts'
import { drainServer } from './drainServer.ts'
import type { Gateway } from './gateway.ts'
import type { GatewayLoad } from './gatewayLoad.ts'
import type { GatewayConfig, GatewayParts } from './gatewayOptions.ts'
import { createConnections } from './http/connections.ts'
import type { Connections } from './http/connections.ts'
import { updateServer } from './http/createBoundedServer.ts'
import { listenOn } from './http/listenOn.ts'
import type { FaultEntry, LogEntry } from './log.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createNetworkHub } from './subscription/createNetworkHub.ts'
import { getOwnShare } from './subscription/ownReads.ts'
import type { UpstreamGroup } from './upstream/createUpstreamGroup.ts'

const defaultGraceMs = 10_000
const releaseCheckMs = 50

/** The state of a gateway. */
interface RunningGateway extends HttpServer {
  readonly createContext: ReturnType<typeof createContextFactory>
  /** Those of the daily budgets of nodes, if the service has none. */
  readonly ownPermits: PermitStore | undefined
  readonly connections: Connections
  readonly webSockets: SocketServer
  readonly hubs: Hubs
  readonly log: (entry: LogEntry) => void
  /** The current context, which a reload replaces. */
  context: GatewayContext
  /** Contexts before the last reload that may still have requests in flight. */
  earlier: readonly GatewayContext[]
  phase: Phase
  /** The last reload, and the end of the nodes that reloads have removed. */
  reloading: Promise<void>
  releasing: Promise<unknown>
}

/** Creates a gateway. It opens nothing before `listen`. */
export const createGateway = (parts: GatewayParts, config: GatewayConfig): Gateway => {
  const write = (entry: LogEntry): void => {
    try {
      parts.log?.(entry)
    } catch {
      // A failing log must not fail a call.
    }
  }
  const faults = createFaultLog<FaultEntry>(write, ({ where, code }) => `${where} ${code}`)
  const log = (entry: LogEntry): void => (entry.event === 'fault' ? faults.log(entry) : write(entry))
  const gateway = createRunningGateway(parts, config, log)
  const { webSockets, hubs } = gateway
  let closed: Promise<void> | undefined
  return {
    listen: ({ port = 0, host = '127.0.0.1' } = {}) => listen(gateway, { port, host }),
    reload: async (next) => {
      const work = gateway.reloading.then(() => reload(gateway, next))
      gateway.reloading = work.catch(() => {})
      return work
    },
    upstreams: () => getGroups(gateway.context).flatMap((group) => group.states()),
    load: () => getLoad(gateway),
    storeUses: () => getGroups(gateway.context).flatMap(({ store }) => store?.uses ?? []),
    webSockets: () => ({ ...webSockets.state(), ...hubs.state() }),
    prepareToClose: ({ windowMs } = {}) => {
      if (gateway.phase === 'serving') gateway.phase = 'leaving'
      if (windowMs !== undefined) webSockets.drain(windowMs)
    },
    close: ({ graceMs = defaultGraceMs } = {}) =>
      (closed ??= drain(gateway, graceMs).then((cutOff) => {
        faults.flush()
        log({ event: 'closed', cutOff })
      })),
  }
}

const createRunningGateway = (
  parts: GatewayParts,
  config: GatewayConfig,
  log: (entry: LogEntry) => void,
): RunningGateway => {
  const getGateway = (): GatewayContext => gateway.context
  const hubs = createHubs(parts.createHub ?? createNetworkHub, getGateway)
  const connections = createConnections()
  const webSockets = createSocketServer(getGateway)
  const permits = parts.permits ?? createPermits({ now: parts.now })
  const createContext = createContextFactory(
    { ...parts, permits },
    {
      connections,
      getHub: hubs.get,
      getPhase: () => gateway.phase,
      log,
    },
  )
  const gateway: RunningGateway = {
    createContext,
    ownPermits: parts.permits === undefined ? permits : undefined,
    connections,
    webSockets,
    hubs,
    log,
    ...createHttpServer(config, connections, webSockets, getGateway),
    context: createContext(config),
    earlier: [],
    phase: 'serving',
    reloading: Promise.resolve(),
    releasing: Promise.resolve(),
  }
  return gateway
}

const getGroups = ({ networks }: GatewayContext): readonly UpstreamGroup[] =>
  [...networks.values()].map(({ group }) => group)

const listen = async (
  { context, server, log }: RunningGateway,
  at: { readonly port: number; readonly host: string },
): Promise<{ url: string; port: number }> => {
  await Promise.all(getGroups(context).map((group) => group.start()))
  const port = await listenOn(server, at)
  const { config } = context
  const url = config.publicUrl ?? getListeningUrl(at.host, port, config.tls === undefined ? 'http' : 'https')
  log({ event: 'listening', port, url })
  return { url, port }
}

const reload = async (gateway: RunningGateway, next: GatewayConfig): Promise<void> => {
  const { context: before, hubs, webSockets, server } = gateway
  const context = gateway.createContext(next, before)
  const added = getGroups(context).filter((group) => before.networks.get(group.network)?.group !== group)
  const removed = getGroups(before).filter((group) => context.networks.get(group.network)?.group !== group)
  await Promise.all(added.map((group) => group.start()))
  gateway.context = context
  const isOtherChain = (network: Network): boolean =>
    next.networks.get(network)?.chainId !== before.config.networks.get(network)?.chainId
  for (const network of before.config.networks.keys()) {
    if (!isOtherChain(network)) continue
    hubs.close(network)
    // Those of a network that was removed are closed with that as the reason.
    if (context.networks.has(network)) webSockets.restart(network)
  }
  for (const { network } of added) hubs.renew(network)
  updateServer(server, next)
  gateway.earlier = [...gateway.earlier.filter(({ inFlight }) => inFlight > 0), before]
  const users = gateway.earlier
  const release = async (): Promise<void> => {
    while (users.some(({ inFlight }) => inFlight > 0)) await setTimeout(releaseCheckMs)
    await Promise.all(removed.map((group) => group.close()))
  }
  if (removed.length > 0) gateway.releasing = Promise.all([gateway.releasing, release()])
}

const getLoad = ({ context, earlier, sockets }: RunningGateway): GatewayLoad => ({
  connections: sockets.size,
  maxConnections: context.limits.maxConnections,
  requests: [...earlier, context].reduce((sum, { inFlight }) => sum + inFlight, 0),
  bufferedBytes: allBufferedBytes(),
  bufferedByKind: getBufferedByKind(),
  // Only one of the metrics reads it, and it walks all shares.
  get largestShareBytes() {
    return getLargestShare(getOwnShare())
  },
  maxBufferedBytes: context.limits.maxBufferedBytes,
  queues: getGroups(context).map(({ network, queue }) => ({ network, ...queue.state() })),
  confirmations: getGroups(context).map(({ network, confirmations }) => [network, confirmations.counts()]),
  saved: getGroups(context).map(({ network, saved }) => [
    network,
    { cache: saved.cache.total, inFlight: saved.inFlight.total },
  ]),
})

/** @returns How many requests were cut off. */
const drain = async (gateway: RunningGateway, graceMs: number): Promise<number> => {
  const { hubs, webSockets } = gateway
  gateway.phase = 'draining'
  gateway.log({ event: 'draining' })
  webSockets.drain(graceMs / 2)
  const cutOff = await drainServer(gateway, graceMs)
  // One may have been accepted in the meantime.
  webSockets.terminate()
  await webSockets.closed()
  hubs.closeAll()
  await gateway.reloading
  await gateway.releasing
  await Promise.all(getGroups(gateway.context).map((group) => group.close()))
  await gateway.ownPermits?.close()
  return cutOff
}
