import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * What to do with a request, by how it says where its body ends. `answer`: answer it. `reject`: answer 400 and close the connection.
 * `ignore`: it came behind a request whose framing is in doubt, so it may be a part of that request's body.
 */
export type Framing = 'answer' | 'reject' | 'ignore'

/**
 * Creates the check of how requests say where their bodies end, for one server. Node's parser rejects most faults itself (a length beside a
 * coding, two lengths); this rejects what it lets through, and closes the connection after HTTP/1.0 with `Transfer-Encoding`.
 *
 * @returns The check, to be called with each request before anything is done with it. It marks a response that must be the last one.
 * @example
 * import { createServer } from 'node:http'
 *
 * const checkFraming = createFramingCheck()
 * const server = createServer((request, response) => {
 *   if (checkFraming(request, response) === 'answer') response.end()
 * })
 * @see RFC 9112, sections 6.1 and 6.3
 */
export const createFramingCheck = (): ((request: IncomingMessage, response: ServerResponse) => Framing) => {
  const ending = new WeakSet<Socket>()
  return ({ socket, headers, httpVersion }, response) => {
    if (ending.has(socket)) return 'ignore'
    const coding = headers['transfer-encoding']
    if (coding === undefined) return 'answer'
    // Another coding would have to be decoded, and another reader may take "identity, chunked" or ", chunked" for something else.
    const isChunked = coding.trim().toLowerCase() === 'chunked'
    if (isChunked && httpVersion === '1.1') return 'answer'
    ending.add(socket)
    response.shouldKeepAlive = false
    return isChunked ? 'answer' : 'reject'
  }
}
