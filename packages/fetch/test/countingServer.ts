import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A node that returns the method and params of every call, and records the calls. */
export interface CountingServer {
  readonly url: string
  readonly received: { method: string; params: unknown }[]
  /** Set it to return another `result`; undefined leaves the request without a response. */
  respond: (method: string, params: unknown[]) => unknown
  /** Set it to return this `error` to every call. */
  error: { readonly code: number; readonly message: string } | undefined
  /** How many requests the client ended before they had a response. */
  readonly closedEarly: () => number
  readonly close: () => Promise<void>
}

/** Starts it on a free port. */
export async function startCountingServer(): Promise<CountingServer> {
  let closedEarly = 0
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) closedEarly++
    })
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
      counting.received.push({ method, params })
      const result = counting.respond(method, params)
      if (result === undefined) return
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(counting.error ? { error: counting.error } : { result }) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const counting: CountingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    respond: (method, params) => ({ method, params }),
    error: undefined,
    closedEarly: () => closedEarly,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return counting
}
