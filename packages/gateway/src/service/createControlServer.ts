import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { defaultLimits } from '../proxy/gatewayOptions.ts'
import type { GatewayLimits } from '../proxy/gatewayOptions.ts'
import { rejectBrokenHttp } from '../proxy/http/rejectBrokenHttp.ts'
import { createConnections } from '../proxy/http/connections.ts'
import { createFramingCheck } from '../proxy/http/createFramingCheck.ts'
import { shareConnections } from '../proxy/http/shareConnections.ts'

/** How often late requests are looked for. */
const lateCheckMs = 1_000

const withDefaults = (bounds: GatewayLimits): Required<GatewayLimits> => {
  const all = { ...defaultLimits, ...bounds }
  // Node takes no header that may come later than its whole request.
  return { ...all, headersTimeoutMs: Math.min(all.headersTimeoutMs, all.requestTimeoutMs) }
}

/** Makes a running server keep to other bounds. */
export const setControlBounds = (server: Server, bounds: GatewayLimits): void => {
  const { headersTimeoutMs, requestTimeoutMs, maxConnections } = withDefaults(bounds)
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.maxConnections = maxConnections
}

/**
 * Makes the server of a port that the control API and the dashboard have to themselves, with the networks' bounds of connections and time.
 * @param options.bounds - What is left out is as in `defaultLimits`.
 * @param options.tls - In PEM. @default http
 * @param options.isProxy - Whether others may come through an address: only such a one may have all connections.
 * @param options.leaving - Whether the service is about to stop: connections are then closed after each response.
 * @param options.answer - Told of a request when its turn on its connection has come.
 */
export const createControlServer = ({
  bounds,
  tls,
  leaving = () => false,
  isProxy,
  answer,
}: {
  bounds: GatewayLimits
  tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  leaving?: () => boolean
  isProxy: (ip: string) => boolean
  answer: (request: IncomingMessage, response: ServerResponse) => void
}): Server => {
  const http = { connectionsCheckingInterval: lateCheckMs }
  const server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...tls, handshakeTimeout: withDefaults(bounds).headersTimeoutMs })
  setControlBounds(server, bounds)
  shareConnections(server, isProxy)
  const connections = createConnections()
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    connections.start(request)
    response.on('close', () => connections.finish(request))
    if (leaving() && connections.isLast(request)) response.shouldKeepAlive = false
    answer(request, response)
  }
  const checkFraming = createFramingCheck()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') rejectBrokenHttp(undefined, request.socket, connections)
    if (framing !== 'accept') return
    if (connections.canStart(request, response)) begin(request, response)
    else connections.enqueue(request, () => begin(request, response))
  })
  return server
}
