import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { defaultLimits } from '../gatewayOptions.ts'
import type { GatewayLimits } from '../gatewayOptions.ts'

/** How often late requests are looked for. */
const lateCheckMs = 1_000

/**
 * Makes the server of a port that the control API and the dashboard have to themselves, with the networks' bounds of connections and time.
 * @param options.bounds - What is left out is as in `defaultLimits`.
 * @param options.tls - In PEM. @default http
 */
export const createControlServer = ({
  bounds,
  tls,
}: {
  bounds: GatewayLimits
  tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
}): Server => {
  const { headersTimeoutMs, requestTimeoutMs, maxConnections } = { ...defaultLimits, ...bounds }
  const http = {
    // Node takes no header that may come later than its whole request.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: lateCheckMs,
  }
  const server = tls === undefined ? createServer(http) : createTlsServer({ ...http, ...tls })
  server.maxConnections = maxConnections
  return server
}
