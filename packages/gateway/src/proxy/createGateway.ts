import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { handleRequest } from './request/handleRequest.ts'
import type { Expectation } from './request/handleRequest.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createNetworkContexts } from './request/networkContext.ts'
import { createBodyQueue } from './request/createBodyQueue.ts'
import { drainServer } from './drainServer.ts'
import { createFaultLog, getFaultCode } from '../errors/faultLog.ts'
import { checkGatewayOptions } from './checkGatewayOptions.ts'
import type { CheckedOptions } from './checkGatewayOptions.ts'
import type { CheckedNetwork } from './checkNetworkOptions.ts'
import type { Gateway, GatewayParts } from './gateway.ts'
import type { GatewayOptions } from './gatewayOptions.ts'
import { rejectBrokenHttp } from './http/rejectBrokenHttp.ts'
import { getListeningUrl } from '../lib/publicUrl.ts'
import { mayBeProxy } from '../lib/ip/clientIp.ts'
import { allBufferedBytes, getBufferedByKind } from '../lib/memoryBudget.ts'
import { createConnections } from './http/connections.ts'
import { createFramingCheck } from './http/createFramingCheck.ts'
import { createProxyWarning } from './http/proxyWarning.ts'
import { shareConnections } from './http/shareConnections.ts'
import { strictTransport } from './http/strictTransport.ts'
import { createJwtCache } from '../auth/jwt/createJwtCache.ts'
import { createIpLimit } from '../usage/rateLimit/createIpLimit.ts'
import type { IpLimit } from '../usage/rateLimit/createIpLimit.ts'
import type { FaultEntry, LogEntry } from './log.ts'
import type { Network } from '../lib/network.ts'
import type { NetworkNames } from './http/parsePath.ts'
import { createHubs } from './socket/createHubs.ts'
import { createSocketServer } from './socket/createSocketServer.ts'
import { createNetworkHub } from './subscription/createNetworkHub.ts'
import { createUpstreamGroup } from './upstream/createUpstreamGroup.ts'
import type { UpstreamGroup, UpstreamGroupOptions } from './upstream/createUpstreamGroup.ts'
import { createBudgetUsage } from './upstream/createBudget.ts'
import type { BudgetUsage } from './upstream/createBudget.ts'

/** Longer than the idle time of common proxies in front (60 s), so that they close first and never send into a closing connection. */
const keepAliveTimeoutMs = 65_000
const timeoutCheckMs = 1_000
const defaultGraceMs = 10_000
const releaseCheckMs = 50

/** Names come before chain ids. If networks share a chain id, it means the first. */
const toNetworkNames = ({ networks, networkHosts }: CheckedOptions): NetworkNames => {
  const byName = new Map(
    [...networks].flatMap(([network, { aliases }]) => [network, ...aliases].map((name) => [name, network] as const)),
  )
  for (const [network, { chainId }] of networks) if (!byName.has(String(chainId))) byName.set(String(chainId), network)
  return { byName, hostSuffix: networkHosts?.slice('{network}'.length).toLowerCase() }
}

const toGroupOptions = (
  network: Network,
  { limits, weights: _weights, ...checked }: CheckedNetwork,
  { unsafeNodeMethods }: CheckedOptions,
): Omit<UpstreamGroupOptions, 'getBudgetUsage' | 'checks' | 'log'> => ({
  network,
  ...checked,
  timeoutMs: limits.upstreamTimeoutMs,
  // Callers can rewrite the chain of a development node, so nothing of it is final.
  maxCacheBytes: unsafeNodeMethods ? 0 : limits.maxCacheBytes,
  maxFilters: limits.maxFilters,
  rewritable: unsafeNodeMethods,
})

/** Whether a reload can keep the network's connections, cache and health. Compares by value: JSON writes a URL as its text. */
const isSameGroup = (network: Network, one: CheckedOptions, other: CheckedOptions): boolean => {
  const [before, after] = [one.networks.get(network), other.networks.get(network)]
  if (before === undefined || after === undefined) return false
  return JSON.stringify(toGroupOptions(network, before, one)) === JSON.stringify(toGroupOptions(network, after, other))
}

/**
 * Creates a gateway. It opens nothing before `listen`.
 * @throws {TypeError} if an option is wrong. The message names it, and holds no secret.
 * @example
 * const keys = createMemoryKeyStore()
 * const gateway = createGateway({ networks, keys })
 * const { url } = await gateway.listen({ port: 8545 })
 */
export const createGateway = (options: GatewayOptions): Gateway => createGatewayFromParts({}, options)

/** Creates a gateway of parts: see `createGateway`. */
export const createGatewayFromParts = (
  { createHub = createNetworkHub, checks }: GatewayParts,
  options: GatewayOptions,
): Gateway => {
  let current = checkGatewayOptions(options)
  const write = (entry: LogEntry): void => {
    try {
      current.log?.(entry)
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
    checked: CheckedOptions,
    getKept: (network: Network) => UpstreamGroup | undefined = () => undefined,
  ): ReadonlyMap<Network, UpstreamGroup> =>
    new Map(
      [...checked.networks].map(([network, options]) => [
        network,
        getKept(network) ??
          createUpstreamGroup({ ...toGroupOptions(network, options, checked), getBudgetUsage, checks, log }),
      ]),
    )
  const hubs = createHubs({
    createHub,
    getGroup: (network) => groups.get(network),
    getNetwork: (network) => current.networks.get(network),
    webSocket: () => current.webSocket,
    maxBufferedBytes: () => current.limits.maxBufferedBytes,
    log,
  })
  // These survive a reload, so that reloading the config resets no limits.
  const jwtCache = createJwtCache({ now: () => current.now() })
  const bodies = createBodyQueue()
  let unknownKeys: { readonly limit: IpLimit; readonly options: CheckedOptions['unknownKeys'] } | undefined
  const getUnknownKeyLimit = ({ unknownKeys: options }: CheckedOptions): IpLimit => {
    if (unknownKeys?.options.perSecond !== options.perSecond || unknownKeys.options.burst !== options.burst)
      unknownKeys = { limit: createIpLimit(options), options }
    return unknownKeys.limit
  }
  const createContext = (checked: CheckedOptions, groups: ReadonlyMap<Network, UpstreamGroup>): GatewayContext => ({
    names: toNetworkNames(checked),
    networks: createNetworkContexts(checked, groups),
    auth: {
      keys: checked.keys,
      jwtCache,
      unknownKeys: getUnknownKeyLimit(checked),
      clientIp: checked.clientIp,
      testKeys: checked.testKeys,
    },
    javascriptTracers: checked.services.javascriptTracers,
    usage: {
      limits: checked.usageLimits,
      quotaStatus: checked.quotaStatus,
      meter: checked.meter,
      requestLog: checked.requestLog,
    },
    server: {
      connections,
      strictTransportSecurity: checked.publicUrl === undefined ? undefined : strictTransport(checked.publicUrl),
      compression: checked.compression,
      fallback: checked.fallback,
      leaving: () => phase !== 'serving',
      draining: () => phase === 'draining',
      degraded: checked.degraded ?? (() => []),
      notReady: checked.notReady ?? (() => undefined),
    },
    sockets: { options: checked.webSocket, getHub: hubs.get },
    tracer: checked.tracer,
    limits: checked.limits,
    bodies,
    inFlight: 0,
    logRequests: checked.logRequests,
    log,
    now: checked.now,
  })
  let groups = createGroups(current)
  let gateway = createContext(current, groups)

  const sockets = createSocketServer(() => gateway)

  const { tls } = current
  const http = {
    // An `upgrade` listener alone would get every request with an `Upgrade` header, also a POST.
    shouldUpgradeCallback: sockets.isUpgrade,
    headersTimeout: current.limits.headersTimeoutMs,
    requestTimeout: current.limits.requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // The Host header is not used here, and Node's own rejection of a missing one is not JSON-RPC.
    requireHostHeader: false,
    // A repeated header must be visible as such: two readers could each use a different one.
    joinDuplicateHeaders: true,
  }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: current.limits.headersTimeoutMs })
  const checkProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const checkFraming = createFramingCheck()
  const serve =
    (expectation: Expectation) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      checkProxy(request, current.clientIp)
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
  server.maxConnections = current.limits.maxConnections
  shareConnections(server, (ip) => mayBeProxy(current.clientIp, ip))
  server.on('request', serve('none'))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    checkProxy(request, current.clientIp)
    sockets.handleUpgrade(request, socket, head)
  })
  server.on('checkContinue', serve('continue'))
  server.on('checkExpectation', serve('unknown'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectBrokenHttp(error.code, socket, connections))
  // A connection that cannot be accepted (out of file handles) must not end the others.
  server.on('error', (error) => log({ event: 'fault', where: 'server', code: getFaultCode(error), count: 1 }))
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

  const reload = async (next: CheckedOptions): Promise<void> => {
    const before = gateway
    const earlierGroups = groups
    const nextGroups = createGroups(next, (network) =>
      isSameGroup(network, current, next) ? earlierGroups.get(network) : undefined,
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
    server.headersTimeout = next.limits.headersTimeoutMs
    server.requestTimeout = next.limits.requestTimeoutMs
    server.maxConnections = next.limits.maxConnections
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
    reload: async (given) => {
      const next = checkGatewayOptions(given)
      if ((next.tls === undefined) !== (tls === undefined))
        throw new TypeError('A reload can renew tls, but not add or remove it. Restart the gateway to change it')
      const work = reloading.then(() => reload(next))
      reloading = work.catch(() => {})
      return work
    },
    upstreams: () => [...groups.values()].flatMap((group) => group.states()),
    load: () => ({
      connections: open.size,
      maxConnections: current.limits.maxConnections,
      requests: [...earlier, gateway].reduce((sum, { inFlight }) => sum + inFlight, 0),
      bufferedBytes: allBufferedBytes(),
      bufferedByKind: getBufferedByKind(),
      maxBufferedBytes: current.limits.maxBufferedBytes,
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
