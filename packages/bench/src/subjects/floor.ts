import http from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Subject } from './subject.ts'

interface RpcResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

const MAX_BYTES = 2 ** 26

/**
 * The floor: what a careful engineer writes by hand over `node:http` for one node. It has keep-alive connections and one timer for
 * connect, headers and body, checks status, id and size, accepts gzip, and reports a broken connection.
 *
 * @param url - The node.
 * @param maxSockets - The maximum number of connections.
 * @param timeoutMs - The timeout, which includes the wait for a connection, so a flood needs a longer one.
 */
export function openFloor(url: string, maxSockets: number = Infinity, timeoutMs = 10_000): Subject {
  const agent = new http.Agent({ keepAlive: true, maxSockets })
  const { hostname, port, pathname } = new URL(url)
  const options = {
    hostname,
    port,
    path: pathname,
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
  }
  let lastId = 0

  const post = <T>(body: string, read: (text: string) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const request = http.request(options, (response) => {
        const { statusCode, headers } = response
        if (Number(headers['content-length']) > MAX_BYTES) request.destroy(new Error('the response is too large'))
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MAX_BYTES) request.destroy(new Error('the response is too large'))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          clearTimeout(timer)
          try {
            const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
            const plain =
              headers['content-encoding'] === 'gzip' ? gunzipSync(whole, { maxOutputLength: MAX_BYTES }) : whole
            if (statusCode !== 200) throw new Error(`status ${statusCode}: ${plain.toString().slice(0, 100)}`)
            resolve(read(plain.toString()))
          } catch (error) {
            reject(error as Error)
          }
        })
      })
      const fail = (error: Error): void => {
        clearTimeout(timer)
        reject(error)
      }
      const timer = setTimeout(() => request.destroy(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
      request.on('error', fail)
      request.end(body)
    })

  return {
    call: (method, params) => {
      const id = ++lastId
      return post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), (text) => {
        const response = JSON.parse(text) as RpcResponse
        if (response.id !== id) throw new Error('the response is for another call')
        if (response.error) throw new Error(response.error.message)
        return response.result
      })
    },
    wave: (method, list) => {
      const firstId = lastId + 1
      lastId += list.length
      const calls = list.map((params, at) => ({ jsonrpc: '2.0', id: firstId + at, method, params }))
      return post(JSON.stringify(calls), (text) => {
        const responses = JSON.parse(text) as RpcResponse[]
        const results = Array.from<unknown>({ length: list.length })
        const seen = new Set<number>()
        for (const { id, result, error } of responses) {
          const at = (id as number) - firstId
          if (!(at in results) || seen.has(at)) throw new Error('a response is for another call')
          if (error) throw new Error(error.message)
          seen.add(at)
          results[at] = result
        }
        if (seen.size !== list.length) throw new Error('a response is missing')
        return results
      })
    },
    close: () => agent.destroy(),
  }
}
