import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A node that answers every call with its method's name and params, and keeps what it was asked. */
export interface CountingServer {
  readonly url: string
  readonly asked: { method: string; params: unknown }[]
  /** Set to answer differently: what is given becomes the `result`; undefined for no answer at all. */
  answer: (method: string, params: unknown[]) => unknown
  readonly close: () => Promise<void>
}

/** Starts one on a free port. */
export async function startCountingServer(): Promise<CountingServer> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
      counting.asked.push({ method, params })
      const result = counting.answer(method, params)
      if (result === undefined) return
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const counting: CountingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: (method, params) => ({ method, params }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return counting
}
