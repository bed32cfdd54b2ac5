import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

/**
 * Starts the floor: the minimal proxy in front of a node. It posts each body over a pool of connections and returns the response.
 * It checks nothing and counts nothing.
 *
 * @param upstream - The node.
 * @param options.parse - Also parses requests and responses and serializes the responses again, as a proxy that handles batches must.
 * @returns Its URL.
 */
export async function startFloor(upstream: string, { parse }: { readonly parse: boolean }): Promise<string> {
  const pool = new Pool(upstream, { connections: 64, pipelining: 1 })
  const headers = { 'content-type': 'application/json' }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const given = Buffer.concat(chunks)
      const body = parse ? JSON.stringify(JSON.parse(given.toString())) : given
      const parts: Buffer[] = []
      pool.dispatch(
        { path: '/', method: 'POST', headers, body },
        {
          onRequestStart: () => {},
          onResponseStart: () => {},
          onResponseData: (_, chunk) => void parts.push(chunk),
          onResponseEnd: () => {
            const whole = Buffer.concat(parts)
            const body = parse ? Buffer.from(JSON.stringify(JSON.parse(whole.toString()))) : whole
            response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
            response.end(body)
          },
          onResponseError: () => response.destroy(),
        },
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
