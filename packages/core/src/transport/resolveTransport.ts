import { addressExample } from '../address/addressOptions.ts'
import { checkNames, checkObject } from '../failure/invalid.ts'
import { createTransport, transportOptionNames } from './createTransport.ts'
import type { Transport } from './transport.ts'
import type { Options, TransportOptions } from './transportOptions.ts'

/** A transport, and how whoever asked for it lets go of it. */
export interface ResolvedTransport {
  readonly transport: Transport
  /** Closes it where it was made here; one that was given may stand behind other libraries, and stays open. */
  readonly release: () => void
}

/**
 * Takes what every adapter takes: options, of which a transport is made, or a transport, which is used as it is.
 *
 * @param given - The options or the transport.
 * @param defaults - Options of the adapter, such as its library's `keccak256`; those that are given go before them.
 * @param of - The function or class that was called with them, for error messages. @default 'transportOf'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, with how to fix it.
 * @example
 * const { transport, release } = transportOf({ url: 'http://127.0.0.1:8545' })
 * await transport.request({ method: 'eth_blockNumber' })
 * release()
 */
export function resolveTransport(
  given: Options | Transport,
  defaults?: Pick<TransportOptions, 'keccak256'>,
  of = 'transportOf',
): ResolvedTransport {
  // By Object, because `in` on a text, a pasted URL for example, fails with that text in its message.
  if ('request' in Object(given)) return { transport: given as Transport, release: () => {} }
  checkObject(of, given, addressExample.replace('options,', 'options or a transport,'))
  checkNames(of, given, transportOptionNames)
  const transport = createTransport({ ...defaults, ...(given as Options) })
  return { transport, release: transport.close }
}
