import { optionsExample } from '../endpoint/endpointUrlOptions.ts'
import { checkNames, checkObject } from '../failure/check.ts'
import { createTransport, transportOptionNames } from './createTransport.ts'
import type { Transport } from './transport.ts'
import type { TransportOptions } from './transportOptions.ts'

/** A transport, and how to release it. */
export interface ResolvedTransport {
  readonly transport: Transport
  /** Closes the transport if it was created here. One that was given may serve other libraries, and stays open. */
  readonly release: () => void
}

/**
 * Turns what every adapter takes into a transport: options, from which one is created, or a transport, which is used as it is.
 *
 * @param given - The options or the transport.
 * @param defaults - The adapter's own options, such as safe writes with its library's hash function. The given options override them.
 * @param caller - The function or class that was called, for error messages. @default 'resolveTransport'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, with how to fix it.
 * @example
 * const { transport, release } = resolveTransport({ url: 'http://127.0.0.1:8545' })
 * await transport.request({ method: 'eth_blockNumber' })
 * release()
 */
export function resolveTransport(
  given: TransportOptions | Transport,
  defaults?: Pick<TransportOptions, 'safeWrites'>,
  caller = 'resolveTransport',
): ResolvedTransport {
  // Object(), because `in` on a string, a pasted URL for example, throws an error that quotes the string.
  if ('request' in Object(given)) return { transport: given as Transport, release: () => {} }
  checkObject(caller, given, optionsExample.replace('options,', 'options or a transport,'))
  checkNames(caller, given, transportOptionNames)
  const transport = createTransport({ ...defaults, ...(given as TransportOptions) })
  return { transport, release: transport.close }
}
