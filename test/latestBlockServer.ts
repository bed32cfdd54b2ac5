import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The latest block of the server. */
export const latest = {
  number: '0x2a',
  hash: `0x${'ab'.repeat(32)}`,
} as const

/** The results of the server, by method. */
export const results: Readonly<Record<string, unknown>> = {
  eth_blockNumber: latest.number,
  eth_chainId: '0x1',
  eth_getBlockByNumber: { ...latest, transactions: [] },
}

/** A JSON-RPC server on this machine. */
export interface LatestBlockServer {
  readonly url: string
  readonly close: () => void
}

/**
 * Starts a server with one block. It never closes an idle connection, so a program that leaves connections open never exits.
 */
export function startLatestBlockServer(): Promise<LatestBlockServer> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
    })
  })
  server.keepAliveTimeout = 0
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({
        url: `http://127.0.0.1:${port}`,
        close: () => {
          server.closeAllConnections()
          server.close()
        },
      })
    })
  })
}
