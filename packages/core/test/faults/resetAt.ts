import type { Script } from '../faultServer.ts'
import { answerBytes } from './answerBytes.ts'
import type { Framing } from './answerBytes.ts'
import type { ItemOf } from './answering.ts'

/** Options of {@link resetAt}. */
export interface ResetOptions {
  readonly framing?: Framing
  /** With an RST in place of a FIN: what was sent but not read yet may then be lost too. */
  readonly hard?: boolean
  readonly itemOf?: ItemOf
}

/** Ends the connection after so many bytes of a good answer, those of its head counted; `0` is before any. A part, such as `0.5`, is that part of the whole. */
export function resetAt(offset: number, { framing, hard = false, itemOf }: ResetOptions = {}): Script {
  return (seen, _response, socket) => {
    const { head, body } = answerBytes(seen, framing, itemOf)
    const whole = Buffer.concat([head, body])
    const end = (): unknown => (hard ? socket.resetAndDestroy() : socket.destroy())
    const bytes = offset > 0 && offset < 1 ? Math.floor(offset * whole.length) : offset
    if (bytes === 0) end()
    else socket.write(whole.subarray(0, bytes), end)
  }
}
