import http from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Subject } from './subject.ts'

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

const MAX_BYTES = 2 ** 26

/**
 * The floor: what a careful engineer writes by hand over `node:http` for one node, and no more. Kept-alive connections, one timer for
 * connect, headers and body, status and id checked, size capped, gzip accepted, a broken connection told.
 *
 * @param url - The node.
 * @param maxSockets - How many connections there may be at once.
 * @param timeoutMs - Its timer runs while a call waits for a connection too, so a flood needs a longer one.
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
        if (Number(headers['content-length']) > MAX_BYTES) request.destroy(new Error('the answer is too large'))
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MAX_BYTES) request.destroy(new Error('the answer is too large'))
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
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      request.on('error', fail)
      request.end(body)
    })

  return {
    call: (method, params) => {
      const id = ++lastId
      return post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), (text) => {
        const answer = JSON.parse(text) as Answer
        if (answer.id !== id) throw new Error('the answer is to another call')
        if (answer.error) throw new Error(answer.error.message)
        return answer.result
      })
    },
    wave: (method, list) => {
      const firstId = lastId + 1
      lastId += list.length
      const calls = list.map((params, at) => ({ jsonrpc: '2.0', id: firstId + at, method, params }))
      return post(JSON.stringify(calls), (text) => {
        const answers = JSON.parse(text) as Answer[]
        const results = Array.from<unknown>({ length: list.length })
        const seen = new Set<number>()
        for (const { id, result, error } of answers) {
          const at = (id as number) - firstId
          if (!(at in results) || seen.has(at)) throw new Error('an answer is to another call')
          if (error) throw new Error(error.message)
          seen.add(at)
          results[at] = result
        }
        if (seen.size !== list.length) throw new Error('an answer is missing')
        return results
      })
    },
    close: () => agent.destroy(),
  }
}
