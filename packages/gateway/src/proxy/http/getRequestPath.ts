import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { parsePath } from './parsePath.ts'
import type { NetworkNames, Path } from './parsePath.ts'

interface ParsedTarget {
  readonly url: string
  readonly host: string | undefined
  /** They change with a reload. */
  readonly names: NetworkNames
  readonly path: Path
}

/** A longer target is not cached. */
const maxCachedLength = 256
const lastTargets = new WeakMap<Duplex, ParsedTarget>()

/**
 * Gets a request's parsed target. The last one of each connection is cached, because nearly all requests of a connection use the same URL.
 * @returns The same object for a cached target.
 */
export const getRequestPath = (
  names: NetworkNames,
  { socket, url = '', headers }: Pick<IncomingMessage, 'socket' | 'url' | 'headers'>,
): Path => {
  const { host } = headers
  const last = lastTargets.get(socket)
  if (last?.url === url && last.host === host && last.names === names) return last.path
  const path = parsePath(url, names, host)
  if (path.kind === 'call' && url.length <= maxCachedLength) lastTargets.set(socket, { url, host, names, path })
  return path
}
