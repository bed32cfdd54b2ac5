import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { handleRequest } from './request/handleRequest.ts'
import type { Expectation } from './request/handleRequest.ts'
import type { GatewayContext } from './request/gatewayContext.ts'
import { createBodyQueue } from './request/createBodyQueue.ts'
import { drainServer } from './drainServer.ts'
import { createFaultLog, getFaultCode } from '../errors/faultLog.ts'
import { checkGatewayOptions } from './checkGatewayOptions.ts'
import type { CheckedOptions } from './checkGatewayOptions.ts'
import type { GatewayOptions } from './gatewayOptions.ts'
import { rejectBrokenHttp } from './http/rejectBrokenHttp.ts'
import { getListeningUrl } from '../lib/publicUrl.ts'
import { mayBeProxy } from '../lib/ip/clientIp.ts'
import { createConnections } from './http/connections.ts'
import { createFramingCheck } from './http/createFramingCheck.ts'
import { createProxyWarning } from './http/proxyWarning.ts'
import { shareConnections } from './http/shareConnections.ts'
import { strictTransport } from './http/strictTransport.ts'
import { createJwtCache } from '../auth/jwt/createJwtCache.ts'
import { createIpLimit } from '../usage/rateLimit/createIpLimit.ts'
import type { IpLimit } from '../usage/rateLimit/createIpLimit.ts'
import type { FaultEntry, LogEntry } from './log.ts'
import { createMethodPolicy } from './method/createMethodPolicy.ts'
import { networkNames } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'
import { createUpstreamGroup } from './upstream/createUpstreamGroup.ts'
import type { UpstreamGroup, UpstreamState } from './upstream/createUpstreamGroup.ts'

/** A service that answers JSON-RPC at keyed addresses in front of nodes. */
export interface Gateway {
  /**
   * Probes the upstreams once, then takes requests. An upstream that does not answer now is probed again, and serves once it does.
   * @param options.port - 0 takes a free one. @default 0
   * @param options.host - The interface to listen on. @default '127.0.0.1'
   * @returns Where callers reach it (`publicUrl` where that was given), and the port.
   * @throws What listening failed with, such as EADDRINUSE.
   */
  listen(options?: { port?: number; host?: string }): Promise<{ url: string; port: number }>
  /**
   * Takes other options without dropping a request: each ends with those that it began with. Nodes that stay as they were keep their
   * connections; new ones are probed before they are used.
   * @param options - All of them anew.
   * @returns When they act. Nodes that are gone are let go when the requests from before have ended.
   * @throws {TypeError} where an option is wrong; then everything stays as it was.
   */
  reload(options: GatewayOptions): Promise<void>
  /** What is known now of each upstream of the current options. */
  upstreams(): readonly UpstreamState[]
  /**
   * Reports 503 at `/readyz` from now on, so that load balancers move their callers away. Everything else is still accepted and served,
   * with `Connection: close`. Call it some seconds before `close` if there is a load balancer.
   */
  prepareToClose(): void
  /**
   * Stops listening, completes the requests that are in flight, rejects later ones on open connections (503), and closes each
   * connection after its last response.
   * @param options.graceMs - After this, requests that are still in flight are cut off, in milliseconds. @default 10_000
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Longer than the idle time of common proxies in front (60 s), so that they close first and never send into a closing connection. */
const keepAliveTimeoutMs = 65_000
const timeoutCheckMs = 1_000
const defaultGraceMs = 10_000
const untilUnusedMs = 50

/** By value: a URL is written as its text. */
const isSameNetwork = (network: Network, one: CheckedOptions, other: CheckedOptions): boolean =>
  one.limits.upstreamTimeoutMs === other.limits.upstreamTimeoutMs &&
  one.limits.maxCacheBytes === other.limits.maxCacheBytes &&
  one.limits.maxFilters === other.limits.maxFilters &&
  one.unsafeNodeMethods === other.unsafeNodeMethods &&
  JSON.stringify(one.networks[network]) === JSON.stringify(other.networks[network])

/**
 * Makes a gateway. Nothing is opened before `listen`.
 * @throws {TypeError} where an option is wrong; the message names it and holds no secret.
 * @example
 * const keys = createMemoryKeyStore()
 * const gateway = createGateway({ networks, keys })
 * const { url } = await gateway.listen({ port: 8545 })
 */
export const createGateway = (options: GatewayOptions): Gateway => {
  let current = checkGatewayOptions(options)
  const write = (entry: LogEntry): void => {
    try {
      current.log?.(entry)
    } catch {
      // A log that fails is no reason for a call to fail.
    }
  }
  const faults = createFaultLog<FaultEntry>(write, ({ where, code }) => `${where} ${code}`)
  const log = (entry: LogEntry): void => (entry.event === 'fault' ? faults.log(entry) : write(entry))
  const connections = createConnections()
  /** `leaving` after `prepareToClose`, `draining` after `close`. */
  let phase: 'serving' | 'leaving' | 'draining' = 'serving'

  const groupOf = (network: Network, { networks, limits, unsafeNodeMethods }: CheckedOptions): UpstreamGroup =>
    createUpstreamGroup({
      network,
      ...networks[network],
      timeoutMs: limits.upstreamTimeoutMs,
      // Whoever may rewrite the chain of a development node must not be told of the one before.
      maxCacheBytes: unsafeNodeMethods ? 0 : limits.maxCacheBytes,
      maxFilters: limits.maxFilters,
      log,
    })
  // These outlive a reload: nobody may begin anew by it.
  const jwtCache = createJwtCache({ now: () => current.now() })
  const bodies = createBodyQueue()
  let unknownKeys: { readonly limit: IpLimit; readonly of: CheckedOptions['unknownKeys'] } | undefined
  const getUnknownKeyLimit = ({ unknownKeys: of }: CheckedOptions): IpLimit => {
    if (unknownKeys?.of.perSecond !== of.perSecond || unknownKeys.of.burst !== of.burst)
      unknownKeys = { limit: createIpLimit(of), of }
    return unknownKeys.limit
  }
  const createContext = (checked: CheckedOptions, groups: GatewayContext['groups']): GatewayContext => ({
    groups,
    keys: checked.keys,
    javascriptTracers: checked.services.javascriptTracers,
    policy: createMethodPolicy({ ...checked.services, unsafeNodeMethods: checked.unsafeNodeMethods }),
    rates: checked.rates,
    quota: checked.quota,
    quotaStatus: checked.quotaStatus,
    meter: checked.meter,
    jwtCache,
    unknownKeys: getUnknownKeyLimit(checked),
    clientIp: checked.clientIp,
    testKeys: checked.testKeys,
    now: checked.now,
    limits: checked.limits,
    bodies,
    strictTransportSecurity: checked.publicUrl === undefined ? undefined : strictTransport(checked.publicUrl),
    connections,
    leaving: () => phase !== 'serving',
    draining: () => phase === 'draining',
    elsewhere: checked.elsewhere,
    degraded: checked.degraded ?? (() => []),
    notReady: checked.notReady ?? (() => undefined),
    inFlight: 0,
    logRequests: checked.logRequests,
    log,
  })
  let gateway = createContext(current, { testnet: groupOf('testnet', current), mainnet: groupOf('mainnet', current) })

  const { tls } = current
  const http = {
    headersTimeout: current.limits.headersTimeoutMs,
    requestTimeout: current.limits.requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // Host is used for nothing here, and Node's own rejection of a missing one is no envelope.
    requireHostHeader: false,
    // What is there twice is to be seen as that, and not as its first: two readers could each take another for the right one.
    joinDuplicateHeaders: true,
  }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: current.limits.headersTimeoutMs })
  const checkProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const checkFraming = createFramingCheck()
  const answerWith =
    (expectation: Expectation) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      checkProxy(request, current.clientIp)
      const framing = checkFraming(request, response)
      if (framing === 'reject') rejectBrokenHttp(undefined, request.socket, connections)
      if (framing !== 'answer') return
      if (connections.mayBegin(request, response)) handleRequest(gateway, { request, response, expectation })
      else connections.later(request, () => handleRequest(gateway, { request, response, expectation }))
    }
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Node takes its own listener off before it tells of a CONNECT. A reset then must not end the process.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  // Whoever has said all that it will say may still wait for its answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
    socket.on('end', () => connections.halfClosed(socket)),
  )
  server.maxConnections = current.limits.maxConnections
  shareConnections(server, (ip) => mayBeProxy(current.clientIp, ip))
  server.on('request', answerWith('none'))
  server.on('checkContinue', answerWith('continue'))
  server.on('checkExpectation', answerWith('unknown'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectBrokenHttp(error.code, socket, connections))
  // A connection that could not be taken (out of file handles) must not end those that were.
  server.on('error', (error) => log({ event: 'fault', where: 'server', code: getFaultCode(error), count: 1 }))
  // CONNECT has no response object. To the caller it is one more broken request.
  server.on('connect', (_, socket) => rejectBrokenHttp('CONNECT', socket, connections))

  let closed: Promise<void> | undefined
  let reloading: Promise<void> = Promise.resolve()
  /** Options of before that requests may still be in flight with. */
  let earlier: readonly GatewayContext[] = []
  let releasing: Promise<unknown> = Promise.resolve()

  const drain = async (graceMs: number): Promise<void> => {
    phase = 'draining'
    log({ event: 'draining' })
    const cutOff = await drainServer(server, { graceMs, sockets, connections })
    await reloading
    await releasing
    await Promise.all(networkNames.map((network) => gateway.groups[network].close()))
    faults.flush()
    log({ event: 'closed', cutOff })
  }

  const reload = async (next: CheckedOptions): Promise<void> => {
    const before = gateway
    // Nodes that stay as they were keep their connections, and what is known of them.
    const groupAfter = (network: Network): UpstreamGroup =>
      isSameNetwork(network, current, next) ? before.groups[network] : groupOf(network, next)
    const groups = { testnet: groupAfter('testnet'), mainnet: groupAfter('mainnet') }
    const changed = networkNames.filter((network) => groups[network] !== before.groups[network])
    await Promise.all(changed.map((network) => groups[network].start()))
    current = next
    gateway = createContext(next, groups)
    server.headersTimeout = next.limits.headersTimeoutMs
    server.requestTimeout = next.limits.requestTimeoutMs
    server.maxConnections = next.limits.maxConnections
    if ('setSecureContext' in server && next.tls !== undefined) server.setSecureContext(next.tls)
    earlier = [...earlier.filter(({ inFlight }) => inFlight > 0), before]
    const users = earlier
    const letGo = async (): Promise<void> => {
      // Each request ends with the options that it began with.
      while (users.some(({ inFlight }) => inFlight > 0)) await setTimeout(untilUnusedMs)
      await Promise.all(changed.map((network) => before.groups[network].close()))
    }
    if (changed.length > 0) releasing = Promise.all([releasing, letGo()])
  }

  return {
    listen: async ({ port = 0, host = '127.0.0.1' } = {}) => {
      await Promise.all(networkNames.map((network) => gateway.groups[network].start()))
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
        throw new TypeError('tls can be renewed by a reload, but neither brought nor dropped: start anew')
      const work = reloading.then(() => reload(next))
      reloading = work.catch(() => {})
      return work
    },
    upstreams: () => networkNames.flatMap((network) => gateway.groups[network].states()),
    prepareToClose: () => {
      if (phase === 'serving') phase = 'leaving'
    },
    close: ({ graceMs = defaultGraceMs } = {}) => (closed ??= drain(graceMs)),
  }
}
