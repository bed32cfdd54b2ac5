import type { Script } from '../faultServer.ts'
import { answerBytes } from './answerBytes.ts'

/** Options of {@link halfOpen}. */
export interface HalfOpenOptions {
  /** So many bytes of a good answer come before the silence. @default 0 */
  readonly afterBytes?: number
  /** Then the server forgets the connection, in milliseconds; so that a long run does not gather them. @default never */
  readonly forgetMs?: number
}

/** Reads no more, says no more, and never closes: as a machine does that has lost its power, or a balancer that has forgotten the connection. */
export function halfOpen({ afterBytes = 0, forgetMs }: HalfOpenOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = answerBytes(seen)
    if (afterBytes > 0) socket.write(Buffer.concat([head, body]).subarray(0, afterBytes))
    socket.pause()
    if (forgetMs !== undefined) setTimeout(() => socket.destroy(), forgetMs).unref()
  }
}
