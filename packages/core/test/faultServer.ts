import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A request that the server received. */
export interface Seen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** The parsed body; undefined if it is not JSON. */
  readonly json: { id: number; method: string; params: unknown[] }
  /** The number of its connection, from 1. */
  readonly connection: number
}

/** Responds to one request, or does anything else with it. */
export type Script = (seen: Seen, response: ServerResponse, socket: Socket) => void

/** A node whose responses are scripted. */
export interface FaultServer {
  readonly url: string
  readonly seen: Seen[]
  /** The current script. Can be replaced at any time. */
  script: Script
  readonly close: () => Promise<void>
}

/** A correct response with a result. */
export const reply =
  (result: unknown): Script =>
  ({ json }, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id: json.id, result }))

/** A response with a status and a text. `$ID` in the text is replaced by the id of the request. */
export const raw =
  (status: number, text: string, headers: Record<string, string> = {}): Script =>
  ({ json }, response) =>
    response.writeHead(status, headers).end(text.replaceAll('$ID', String(json?.id)))

/** A script that takes time. If it rejects, for example because a node that it asks has stopped, the connection is closed. */
export const slowly =
  (respond: (...request: Parameters<Script>) => Promise<unknown>): Script =>
  (...request) =>
    void respond(...request).catch(() => request[2].destroy())

/** Sends a request to a node, and returns the text of the response. */
export const forward = async (url: string, body: string): Promise<string> => {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return response.text()
}

/** Starts a server on a free port. Its responses come from a script. */
export async function startFaultServer(script: Script = reply('0x1')): Promise<FaultServer> {
  const connections = new Map<Socket, number>()
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      let json
      try {
        json = JSON.parse(body)
      } catch {
        json = undefined
      }
      const entry = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        json,
        connection: connections.get(request.socket) ?? 0,
      }
      seen.push(entry)
      fault.script(entry, response, request.socket)
    })
  })
  let opened = 0
  server.on('connection', (socket: Socket) => {
    connections.set(socket, ++opened)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fault: FaultServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    script,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return fault
}
