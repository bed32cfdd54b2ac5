import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { handleRequest } from './caller/http/handleRequest.ts'
import type { Expectation } from './caller/http/handleRequest.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createNetworkContexts } from './request/networkContext.ts'
import { createBodyQueue } from './request/createBodyQueue.ts'
import { drainServer } from './drainServer.ts'
import { createFaultLog, describeFault } from '../errors/faultLog.ts'
import type { Gateway } from './gateway.ts'
import type { GatewayConfig, GatewayParts } from './gatewayOptions.ts'
import { rejectBrokenHttp } from './http/rejectBrokenHttp.ts'
import { getListeningUrl } from '../lib/publicUrl.ts'
import { createClientIp, mayBeProxy } from '../lib/ip/clientIp.ts'
import { getOwnShare } from './subscription/ownReads.ts'
import { allBufferedBytes, getBufferedByKind, getLargestShare } from '../lib/memoryBudget.ts'
import { createConnections } from './http/connections.ts'
import { createFramingCheck } from './http/createFramingCheck.ts'
import { createProxyWarning } from './http/proxyWarning.ts'
import { shareConnections } from './http/shareConnections.ts'
import { strictTransport } from './http/strictTransport.ts'
import { createJwtCache } from '../auth/jwt/createJwtCache.ts'
import { createIpLimit } from '../usage/rateLimit/createIpLimit.ts'
import { createLookUpLimit } from '../usage/rateLimit/createLookUpLimit.ts'
import { createRateLimiter } from '../usage/rateLimit/createRateLimiter.ts'
import type { FaultEntry, LogEntry } from './log.ts'
import type { Network } from '../lib/network.ts'
import type { NetworkNames } from './http/parsePath.ts'
import type { NetworkOptions } from './options/networkOptions.ts'
import { createHubs } from './caller/webSocket/createHubs.ts'
import { createSocketServer } from './caller/webSocket/createSocketServer.ts'
import { createNetworkHub } from './subscription/createNetworkHub.ts'
import { createUpstreamGroup } from './upstream/createUpstreamGroup.ts'
import type { UpstreamGroup, UpstreamGroupOptions } from './upstream/createUpstreamGroup.ts'
import { createBudgetUsage } from './upstream/health/createBudget.ts'
import type { BudgetUsage } from './upstream/health/createBudget.ts'

const timeoutCheckMs = 1_000
const defaultGraceMs = 10_000
const releaseCheckMs = 50
const defaultUnknownKeys = { perSecond: 10, burst: 100 }

/** Names come before chain ids. If networks share a chain id, it means the first. */
const toNetworkNames = ({ networks, networkHosts }: GatewayConfig): NetworkNames => {
  const byName = new Map(
    [...networks].flatMap(([network, { aliases }]) => [network, ...aliases].map((name) => [name, network] as const)),
  )
  for (const [network, { chainId }] of networks) if (!byName.has(String(chainId))) byName.set(String(chainId), network)
  return { byName, hostSuffix: networkHosts?.slice('{network}'.length).toLowerCase() }
}

type GroupOptions = Omit<UpstreamGroupOptions, 'getBudgetUsage' | 'checks' | 'log'>

const toGroupOptions = (
  network: Network,
  { bounds, weights: _weights, methods: _methods, methodPresets: _presets, ...options }: NetworkOptions,
  rewritable: boolean,
): GroupOptions => ({
  network,
  ...options,
  timeoutMs: bounds.upstreamTimeoutMs,
  // Callers can rewrite the chain of a development node, so nothing of it is final.
  maxCacheBytes: rewritable ? 0 : bounds.maxCacheBytes,
  maxFilters: bounds.maxFilters,
  rewritable,
})

/** Whether a network has the same nodes and uses them in the same way. Compares by value: JSON writes a URL as its text. */
const isSameGroup = (one: NetworkOptions | undefined, other: NetworkOptions | undefined): boolean =>
  one !== undefined && other !== undefined && toGroupKey(one) === toGroupKey(other)

const toGroupKey = (options: NetworkOptions): string => JSON.stringify(toGroupOptions('', options, false))

/** Creates a gateway. It opens nothing before `listen`. */
export const createGateway = (parts: GatewayParts, config: GatewayConfig): Gateway => {
  const { createHub = createNetworkHub, checks, developmentMethods, now = Date.now } = parts
  let current = config
  const write = (entry: LogEntry): void => {
    try {
      parts.log?.(entry)
    } catch {
      // A failing log must not fail a call.
    }
  }
  const faults = createFaultLog<FaultEntry>(write, ({ where, code }) => `${where} ${code}`)
  const log = (entry: LogEntry): void => (entry.event === 'fault' ? faults.log(entry) : write(entry))
  const connections = createConnections()
  /** `leaving` after `prepareToClose`, `draining` after `close`. */
  let phase: 'serving' | 'leaving' | 'draining' = 'serving'

  /** The usage of the upstreams' budgets, by URL. It survives a reload, so that reloading the config resets no budget. */
  const budgetUsages = new Map<string, BudgetUsage>()
  const getBudgetUsage = ({ href }: URL): BudgetUsage => {
    const usage = budgetUsages.get(href) ?? createBudgetUsage()
    budgetUsages.set(href, usage)
    return usage
  }
  /** Creates the groups of all networks, except for those that can be reused. */
  const createGroups = (
    { networks }: GatewayConfig,
    getKept: (network: Network) => UpstreamGroup | undefined = () => undefined,
  ): ReadonlyMap<Network, UpstreamGroup> =>
    new Map(
      [...networks].map(([network, options]) => [
        network,
        getKept(network) ??
          createUpstreamGroup({
            ...toGroupOptions(network, options, developmentMethods === 'all'),
            getBudgetUsage,
            checks,
            log,
          }),
      ]),
    )
  const hubs = createHubs({
    createHub,
    getGroup: (network) => groups.get(network),
    getNetwork: (network) => current.networks.get(network),
    webSocket: () => current.webSocket,
    maxBufferedBytes: () => current.bounds.maxBufferedBytes,
    log,
  })
  // These survive a reload, so that reloading the config resets no limits.
  const jwtCache = createJwtCache({ now })
  const bodies = createBodyQueue()
  const testRates = createRateLimiter()
  const unknownKeys = createIpLimit(parts.unknownKeys ?? defaultUnknownKeys)
  const lookUps = createLookUpLimit({ unknownKeys })
  const createContext = (config: GatewayConfig, groups: ReadonlyMap<Network, UpstreamGroup>): GatewayContext => ({
    names: toNetworkNames(config),
    networks: createNetworkContexts(config, groups, developmentMethods),
    auth: {
      keys: parts.keys,
      jwtCache,
      unknownKeys,
      lookUps,
      clientIp: createClientIp(config.trustedProxies),
      testKeys:
        parts.testKeys === true
          ? { origin: config.publicUrl && new URL(config.publicUrl).origin, rates: testRates }
          : undefined,
    },
    javascriptTracers: config.services.javascriptTracers,
    usage: {
      limits: parts.usageLimits,
      quotaStatus: config.quotaStatus,
      meter: parts.meter,
      requestLog: parts.requestLog,
    },
    server: {
      connections,
      strictTransportSecurity: config.publicUrl === undefined ? undefined : strictTransport(config.publicUrl),
      compression: config.compression,
      fallback: parts.fallback,
      leaving: () => phase !== 'serving',
      draining: () => phase === 'draining',
      degraded: parts.degraded ?? (() => []),
      details: parts.details ?? (() => ({})),
      notReady: parts.notReady ?? (() => undefined),
    },
    sockets: { options: config.webSocket, getHub: hubs.get },
    tracer: config.tracer,
    limits: config.bounds,
    bodies,
    inFlight: 0,
    logRequests: config.logRequests && parts.log !== undefined,
    log,
    now,
  })
  let groups = createGroups(current)
  let gateway = createContext(current, groups)

  const sockets = createSocketServer(() => gateway)

  const { tls } = current
  const http = {
    // An `upgrade` listener alone would get every request with an `Upgrade` header, also a POST.
    shouldUpgradeCallback: sockets.isUpgrade,
    headersTimeout: current.bounds.headersTimeoutMs,
    requestTimeout: current.bounds.requestTimeoutMs,
    keepAliveTimeout: current.bounds.keepAliveTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // The Host header is not used here, and Node's own rejection of a missing one is not JSON-RPC.
    requireHostHeader: false,
    // A repeated header must be visible as such: two readers could each use a different one.
    joinDuplicateHeaders: true,
  }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: current.bounds.headersTimeoutMs })
  const checkProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const checkFraming = createFramingCheck()
  const serve =
    (expectation: Expectation) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      checkProxy(request, gateway.auth.clientIp)
      const framing = checkFraming(request, response)
      if (framing === 'reject') rejectBrokenHttp(undefined, request.socket, connections)
      if (framing !== 'accept') return
      if (connections.canStart(request, response)) handleRequest(gateway, { request, response, expectation })
      else connections.enqueue(request, () => handleRequest(gateway, { request, response, expectation }))
    }
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    // Node removes its own listener before it emits `connect`. A reset after that must not end the process.
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  // A caller that has sent everything may still wait for its response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
    socket.on('end', () => connections.halfClosed(socket)),
  )
  server.maxConnections = current.bounds.maxConnections
  shareConnections(server, (ip) => mayBeProxy(gateway.auth.clientIp, ip))
  server.on('request', serve('none'))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    checkProxy(request, gateway.auth.clientIp)
    sockets.handleUpgrade(request, socket, head)
  })
  server.on('checkContinue', serve('continue'))
  server.on('checkExpectation', serve('unknown'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectBrokenHttp(error.code, socket, connections))
  // A connection that cannot be accepted (out of file handles) must not end the others.
  server.on('error', (error) => log({ event: 'fault', where: 'server', ...describeFault(error), count: 1 }))
  // CONNECT has no response object, so it is handled as a malformed request.
  server.on('connect', (_, socket) => rejectBrokenHttp('CONNECT', socket, connections))

  let closed: Promise<void> | undefined
  let reloading: Promise<void> = Promise.resolve()
  /** Contexts before the last reload that may still have requests in flight. */
  let earlier: readonly GatewayContext[] = []
  let releasing: Promise<unknown> = Promise.resolve()

  const drain = async (graceMs: number): Promise<void> => {
    phase = 'draining'
    log({ event: 'draining' })
    sockets.drain(graceMs / 2)
    const cutOff = await drainServer(server, {
      graceMs,
      sockets: open,
      connections,
      webSockets: sockets,
    })
    // One may have been accepted in the meantime.
    sockets.terminate()
    await sockets.closed()
    hubs.closeAll()
    await reloading
    await releasing
    await Promise.all([...groups.values()].map((group) => group.close()))
    faults.flush()
    log({ event: 'closed', cutOff })
  }

  const reload = async (next: GatewayConfig): Promise<void> => {
    const before = gateway
    const earlierGroups = groups
    // An unchanged network keeps its connections, cache and health.
    const nextGroups = createGroups(next, (network) =>
      isSameGroup(current.networks.get(network), next.networks.get(network)) ? earlierGroups.get(network) : undefined,
    )
    const added = [...nextGroups.values()].filter((group) => earlierGroups.get(group.network) !== group)
    const removed = [...earlierGroups.values()].filter((group) => nextGroups.get(group.network) !== group)
    await Promise.all(added.map((group) => group.start()))
    const isOtherChain = (network: Network): boolean =>
      next.networks.get(network)?.chainId !== current.networks.get(network)?.chainId
    const otherChains = [...current.networks.keys()].filter(isOtherChain)
    current = next
    groups = nextGroups
    gateway = createContext(next, groups)
    for (const network of otherChains) {
      hubs.close(network)
      // Those of a network that was removed are closed with that as the reason.
      if (groups.has(network)) sockets.restart(network)
    }
    for (const { network } of added) hubs.renew(network)
    server.headersTimeout = next.bounds.headersTimeoutMs
    server.requestTimeout = next.bounds.requestTimeoutMs
    server.keepAliveTimeout = next.bounds.keepAliveTimeoutMs
    server.maxConnections = next.bounds.maxConnections
    if ('setSecureContext' in server && next.tls !== undefined) server.setSecureContext(next.tls)
    earlier = [...earlier.filter(({ inFlight }) => inFlight > 0), before]
    const users = earlier
    const release = async (): Promise<void> => {
      while (users.some(({ inFlight }) => inFlight > 0)) await setTimeout(releaseCheckMs)
      await Promise.all(removed.map((group) => group.close()))
    }
    if (removed.length > 0) releasing = Promise.all([releasing, release()])
  }

  return {
    listen: async ({ port = 0, host = '127.0.0.1' } = {}) => {
      await Promise.all([...groups.values()].map((group) => group.start()))
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      const bound = server.address()
      const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port
      const url = current.publicUrl ?? getListeningUrl(host, boundPort, tls === undefined ? 'http' : 'https')
      log({ event: 'listening', port: boundPort, url })
      return { url, port: boundPort }
    },
    reload: async (next) => {
      const work = reloading.then(() => reload(next))
      reloading = work.catch(() => {})
      return work
    },
    upstreams: () => [...groups.values()].flatMap((group) => group.states()),
    load: () => ({
      connections: open.size,
      maxConnections: current.bounds.maxConnections,
      requests: [...earlier, gateway].reduce((sum, { inFlight }) => sum + inFlight, 0),
      bufferedBytes: allBufferedBytes(),
      bufferedByKind: getBufferedByKind(),
      // Only one of the metrics reads it, and it walks all shares.
      get largestShareBytes() {
        return getLargestShare(getOwnShare())
      },
      maxBufferedBytes: current.bounds.maxBufferedBytes,
      queues: [...groups.values()].map(({ network, queue }) => ({ network, ...queue.state() })),
    }),
    webSockets: () => ({ ...sockets.state(), ...hubs.state() }),
    prepareToClose: ({ windowMs } = {}) => {
      if (phase === 'serving') phase = 'leaving'
      if (windowMs !== undefined) sockets.drain(windowMs)
    },
    close: ({ graceMs = defaultGraceMs } = {}) => (closed ??= drain(graceMs)),
  }
}
