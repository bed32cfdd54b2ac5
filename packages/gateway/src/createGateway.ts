import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerRequest } from './answer/answerRequest.ts'
import type { Expectation } from './answer/answerRequest.ts'
import type { Answering } from './answer/answering.ts'
import { drainServer } from './drainServer.ts'
import { checkGatewayOptions } from './checkGatewayOptions.ts'
import type { GatewayOptions } from './gatewayOptions.ts'
import { answerBrokenHttp } from './http/answerBrokenHttp.ts'
import { listeningUrl } from './http/publicUrl.ts'
import { createConnections } from './http/connections.ts'
import type { LogEntry } from './log.ts'
import { createMethodPolicy } from './method/createMethodPolicy.ts'
import type { Network } from './network.ts'
import { createUpstreamGroup } from './upstream/createUpstreamGroup.ts'
import type { UpstreamGroup } from './upstream/createUpstreamGroup.ts'

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
   * Stops: takes no new connections, answers what was asked before, refuses what comes after on open connections (503), and
   * closes each connection after its last answer.
   * @param options.graceMs - After this, what is still under way is cut off, in milliseconds. @default 10_000
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Longer than the idle time of common proxies in front (60 s), so that they close first and never send into a closing connection. */
const keepAliveTimeoutMs = 65_000
const timeoutCheckMs = 1_000
const defaultGraceMs = 10_000
/**
 * Makes a gateway. Nothing is opened before `listen`.
 * @throws {TypeError} where an option is wrong; the message names it and holds no secret.
 * @example
 * const keys = createMemoryKeyStore()
 * const gateway = createGateway({ networks, keys })
 * const { url } = await gateway.listen({ port: 8545 })
 */
export const createGateway = (options: GatewayOptions): Gateway => {
  const { networks, keys, publicUrl, services, unsafeNodeMethods, limits, log: tell } = checkGatewayOptions(options)
  const log = (entry: LogEntry): void => {
    try {
      tell?.(entry)
    } catch {
      // A log that fails is no reason for a call to fail.
    }
  }
  const connections = createConnections()
  let draining = false

  const groupOf = (network: Network): UpstreamGroup => {
    const { chainId, upstreams } = networks[network]
    return createUpstreamGroup({ network, chainId, upstreams, timeoutMs: limits.upstreamTimeoutMs, log })
  }
  const groups = { testnet: groupOf('testnet'), mainnet: groupOf('mainnet') }
  const answering: Answering = {
    groups,
    keys,
    policy: createMethodPolicy({ ...services, unsafeNodeMethods }),
    limits,
    connections,
    draining: () => draining,
    log,
  }

  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // Host is used for nothing here, and Node's own refusal of a missing one is no envelope.
    requireHostHeader: false,
  })
  const answerWith =
    (expectation: Expectation) =>
    (request: IncomingMessage, response: ServerResponse): void =>
      answerRequest(answering, { request, response, expectation })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Node takes its own listener off before it tells of a CONNECT. A reset then must not end the process.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('request', answerWith('none'))
  server.on('checkContinue', answerWith('continue'))
  server.on('checkExpectation', answerWith('unknown'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBrokenHttp(error.code, socket, connections))
  // A connection that could not be taken (out of file handles) must not end those that were.
  server.on('error', () => log({ event: 'fault', where: 'server' }))
  // CONNECT has no response object. To the caller it is one more broken request.
  server.on('connect', (_, socket) => answerBrokenHttp('CONNECT', socket, connections))

  let closed: Promise<void> | undefined

  const drain = async (graceMs: number): Promise<void> => {
    draining = true
    log({ event: 'draining' })
    const cutOff = await drainServer(server, { graceMs, sockets, connections })
    await Promise.all([groups.testnet.close(), groups.mainnet.close()])
    log({ event: 'closed', cutOff })
  }

  return {
    listen: async ({ port = 0, host = '127.0.0.1' } = {}) => {
      await Promise.all([groups.testnet.start(), groups.mainnet.start()])
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      const bound = server.address()
      const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port
      log({ event: 'listening', port: boundPort })
      return { url: publicUrl ?? listeningUrl(host, boundPort), port: boundPort }
    },
    close: ({ graceMs = defaultGraceMs } = {}) => (closed ??= drain(graceMs)),
  }
}
