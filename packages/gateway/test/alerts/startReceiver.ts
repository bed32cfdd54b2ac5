import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

/** A request that a receiver of webhooks got. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that receives webhooks. */
export interface Receiver {
  readonly port: number
  readonly url: string
  readonly requests: ReceivedRequest[]
  /** The statuses of the next responses; 204 if there is none, and no response for 0. */
  readonly statuses: number[]
  close(): Promise<void>
}

/** Starts a receiver of webhooks on a free port of 127.0.0.1. */
export const startReceiver = async (): Promise<Receiver> => {
  const requests: ReceivedRequest[] = []
  const statuses: number[] = []
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      requests.push({ method, path, headers, body })
      const status = statuses.shift() ?? 204
      if (status === 0) return
      response.writeHead(status, status >= 300 && status < 400 ? { location: `${url}/redirected` } : {}).end()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    requests,
    statuses,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
