import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isTrustedProxy } from '../../lib/ip/clientIp.ts'
import type { ClientIp } from '../../lib/ip/clientIp.ts'

/** The longest id that is accepted from a proxy, in characters. */
const maxLength = 128
/** Characters that mean nothing in a header, a log line, a URL or a shell. */
const allowed: ReadonlySet<string> = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-')

const isWellFormed = (id: string): boolean =>
  id.length > 0 && id.length <= maxLength && Array.from(id).every((character) => allowed.has(character))

/**
 * Gets the id that responses and logs give a request: the `X-Request-Id` of a trusted proxy if it is well formed, else a new UUID. A
 * header that was sent twice arrives joined by a comma, so it is not well formed.
 */
export const getRequestId = (clientIp: ClientIp, { headers, socket }: IncomingMessage): string => {
  const given = headers['x-request-id']
  const isAccepted = typeof given === 'string' && isTrustedProxy(clientIp, socket.remoteAddress) && isWellFormed(given)
  return isAccepted ? given : randomUUID()
}
