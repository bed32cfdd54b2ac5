import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { parsePath } from './parsePath.ts'
import type { Path } from './parsePath.ts'

interface Last {
  readonly url: string
  readonly path: Path
}

/** Of a longer target nothing is kept. */
const longest = 256
const lastOf = new WeakMap<Duplex, Last>()

/**
 * What a request's target asks for. Nearly all requests of a connection go to one address, so that is taken apart once.
 * @returns The same object for the same target again.
 */
export const requestPath = ({ socket, url = '' }: IncomingMessage): Path => {
  const last = lastOf.get(socket)
  if (last?.url === url) return last.path
  const path = parsePath(url)
  if (path.kind === 'call' && url.length <= longest) lastOf.set(socket, { url, path })
  return path
}
