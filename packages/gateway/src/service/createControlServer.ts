import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createConnections } from '../proxy/http/connections.ts'
import { createBoundedServer, createRequestStart } from '../proxy/http/createBoundedServer.ts'
import type { ServerConfig } from '../proxy/http/createBoundedServer.ts'

/**
 * Creates the server of the control API and the dashboard on their own port. It has the same connection and time limits as the networks.
 * @param options.isProxy - Whether an IP address is that of a proxy, which may use all connections.
 * @param options.isClosing - Whether the service is about to stop. Connections are then closed after each response.
 * @param options.handle - Called for each request, in the order of its connection.
 */
export const createControlServer = ({
  isClosing = () => false,
  isProxy,
  handle,
  ...config
}: ServerConfig & {
  isClosing?: () => boolean
  isProxy: (ip: string) => boolean
  handle: (request: IncomingMessage, response: ServerResponse) => void
}): Server => {
  const server = createBoundedServer(config, isProxy)
  const connections = createConnections()
  const startRequest = createRequestStart(connections)
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    startRequest(request, response, () => {
      connections.start(request)
      response.on('close', () => connections.finish(request))
      if (isClosing() && connections.isLast(request)) response.shouldKeepAlive = false
      handle(request, response)
    }),
  )
  return server
}
