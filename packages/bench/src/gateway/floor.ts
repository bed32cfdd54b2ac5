import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

/**
 * The least that a program in front of a node can do: it takes a body, posts it over a pool of connections, and gives back what comes.
 * It checks nothing and counts nothing.
 *
 * @param upstream - The node.
 * @param options.parse - Also reads question and answer as JSON and writes the answer anew, as whoever looks into a batch must.
 * @returns Where it listens.
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
            const answer = parse ? Buffer.from(JSON.stringify(JSON.parse(whole.toString()))) : whole
            response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
            response.end(answer)
          },
          onResponseError: () => response.destroy(),
        },
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
