import type { Script } from '../faultServer.ts'
import { createResponseBytes } from './responseBytes.ts'
import type { Framing } from './responseBytes.ts'
import type { GetItem } from './respondWith.ts'

/** Options of {@link resetAt}. */
export interface ResetOptions {
  readonly framing?: Framing
  /** Sends an RST instead of a FIN. Data that was sent but not read may then be lost too. */
  readonly hard?: boolean
  readonly getItem?: GetItem
}

/** Ends the connection after `offset` bytes of a correct response, including its head. A fraction, such as `0.5`, is that part of the response. */
export function resetAt(offset: number, { framing, hard = false, getItem }: ResetOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = createResponseBytes(seen, framing, getItem)
    const whole = Buffer.concat([head, body])
    const end = (): unknown => (hard ? socket.resetAndDestroy() : socket.destroy())
    const bytes = offset > 0 && offset < 1 ? Math.floor(offset * whole.length) : offset
    if (bytes === 0) end()
    else socket.write(whole.subarray(0, bytes), end)
  }
}
