import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * The action for a request, by its framing: how it indicates the end of its body. `accept`: handle it. `reject`: respond with 400 and
 * close the connection. `ignore`: it follows a request whose framing is ambiguous, so it may be part of that request's body.
 */
export type Framing = 'accept' | 'reject' | 'ignore'

/**
 * Creates the check of requests' framing for one server. Node's parser rejects most ambiguous framing (a length together with a coding, two
 * lengths). This check rejects the rest, and closes the connection after an HTTP/1.0 request with `Transfer-Encoding`.
 *
 * @returns The check. Call it with each request before you handle it. It marks a response that must be the last one.
 * @see RFC 9112, sections 6.1 and 6.3
 */
export const createFramingCheck = (): ((request: IncomingMessage, response: ServerResponse) => Framing) => {
  const ending = new WeakSet<Socket>()
  return ({ socket, headers, httpVersion }, response) => {
    if (ending.has(socket)) return 'ignore'
    const coding = headers['transfer-encoding']
    if (coding === undefined) return 'accept'
    // Other codings are not decoded, and another parser may read "identity, chunked" or ", chunked" differently.
    const isChunked = coding.trim().toLowerCase() === 'chunked'
    if (isChunked && httpVersion === '1.1') return 'accept'
    ending.add(socket)
    response.shouldKeepAlive = false
    return isChunked ? 'accept' : 'reject'
  }
}
