import type { Script } from '../faultServer.ts'
import { createResponseBytes } from './responseBytes.ts'

/** Options of {@link halfOpen}. */
export interface HalfOpenOptions {
  /** How many bytes of a correct response are sent before the silence. @default 0 */
  readonly afterBytes?: number
  /** When the server closes the connection, in milliseconds, so that a long run does not accumulate them. @default never */
  readonly forgetMs?: number
}

/** Stops reading and writing but does not close, like a machine that lost power or a load balancer that dropped the connection. */
export function halfOpen({ afterBytes = 0, forgetMs }: HalfOpenOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = createResponseBytes(seen)
    if (afterBytes > 0) socket.write(Buffer.concat([head, body]).subarray(0, afterBytes))
    socket.pause()
    if (forgetMs !== undefined) setTimeout(() => socket.destroy(), forgetMs).unref()
  }
}
