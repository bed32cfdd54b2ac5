import { createTransport } from './createTransport.ts'
import type { Transport } from './transport.ts'
import type { Options, TransportOptions } from './transportOptions.ts'

/** A transport, and how whoever asked for it lets go of it. */
export interface HeldTransport {
  readonly transport: Transport
  /** Closes it where it was made here; one that was given may stand behind other libraries, and stays open. */
  readonly release: () => void
}

/**
 * Takes what every adapter takes: options, of which a transport is made, or a transport, which is used as it is.
 *
 * @param given - The options or the transport.
 * @param defaults - Options of the adapter, such as its library's `keccak256`; those that are given go before them.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, naming it and the mend.
 * @example
 * const { transport, release } = transportOf({ url: 'http://127.0.0.1:8545' })
 * await transport.request({ method: 'eth_blockNumber' })
 * release()
 */
export function transportOf(given: Options | Transport, defaults?: Pick<TransportOptions, 'keccak256'>): HeldTransport {
  // By Object, because `in` on a text, a pasted URL for example, fails with that text in its message.
  if ('request' in Object(given)) return { transport: given as Transport, release: () => {} }
  const transport = createTransport(
    defaults && Object(given) === given ? { ...defaults, ...(given as Options) } : (given as Options),
  )
  return { transport, release: transport.close }
}
