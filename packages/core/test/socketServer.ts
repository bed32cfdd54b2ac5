import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

/** A call that the server received. */
export interface SocketCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  /** The number of its connection, from 1. */
  readonly connection: number
  /** Sends a message: text as it is, anything else as JSON. */
  readonly send: (message: unknown) => void
  /** Responds with a result. */
  readonly reply: (result: unknown) => void
  readonly socket: WebSocket
  /** The TCP connection below it. */
  readonly tcp: Socket
}

/** A node whose responses over WebSocket are scripted. */
export interface SocketServer {
  /** The URL for HTTP. */
  readonly url: string
  readonly calls: SocketCall[]
  /** The requests for a connection. */
  readonly handshakes: IncomingMessage[]
  /** The connections that are open. */
  readonly open: () => number
  /** Handles each call. Can be replaced at any time. */
  script: (call: SocketCall) => void
  /**
   * The response to a handshake, or to a POST, that is rejected; with `once`, to one handshake only.
   * @default handshakes are accepted, and POSTs get a chain id
   */
  rejection: { readonly status: number; readonly body: string; readonly once?: boolean } | undefined
  readonly reset: () => void
  readonly close: () => Promise<void>
}

/** Responds to `eth_chainId`, and to every other call with its own method. */
export const echoMethod = ({ method, reply }: SocketCall): void => reply(method === 'eth_chainId' ? '0x1' : method)

/** Starts a server on a free port. */
export async function startSocketServer(): Promise<SocketServer> {
  const sockets = new WebSocketServer({ noServer: true })
  const http = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.statusCode = server.rejection?.status ?? 200
      const { id } = JSON.parse(body) as { id: number }
      response.end(server.rejection?.body ?? JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
    })
  })
  let connections = 0
  http.on('upgrade', (request, tcp: Socket, head) => {
    server.handshakes.push(request)
    if (server.rejection) {
      const { status, body, once } = server.rejection
      if (once) server.rejection = undefined
      tcp.end(`HTTP/1.1 ${status} x\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`)
      return
    }
    sockets.handleUpgrade(request, tcp, head, (socket) => {
      const connection = ++connections
      socket.on('error', () => {})
      const send = (message: unknown): void =>
        socket.send(typeof message === 'string' ? message : JSON.stringify(message))
      socket.on('message', (data) => {
        const { id, method, params } = JSON.parse((data as Buffer).toString()) as SocketCall
        const reply = (result: unknown): void => send({ jsonrpc: '2.0', id, result })
        const call: SocketCall = { id, method, params, connection, send, reply, socket, tcp }
        server.calls.push(call)
        server.script(call)
      })
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: SocketServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    calls: [],
    handshakes: [],
    open: () => sockets.clients.size,
    script: echoMethod,
    rejection: undefined,
    reset: () => {
      server.calls.length = 0
      server.handshakes.length = 0
      connections = 0
      server.script = echoMethod
      server.rejection = undefined
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return server
}
