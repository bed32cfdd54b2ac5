import { optionsExample } from '../endpoint/endpointUrlOptions.ts'
import { checkNames, checkObject } from '../failure/check.ts'
import { createTransport, getTransportOptionNames } from './createTransport.ts'
import type { Transport } from './transport.ts'
import type { TransportOptions } from './transportOptions.ts'

/** A transport, and how to release it. */
export interface ResolvedTransport {
  readonly transport: Transport
  /** Closes the transport if this function created it. A transport that was passed in may serve other libraries, so it stays open. */
  readonly release: () => void
}

/**
 * Returns the transport of an adapter: the transport that its user passed in, or a new one with the options that its user passed in.
 *
 * @param input - The options or the transport.
 * @param defaults - The adapter's own options, such as safe writes with its library's hash function. The user's options override them.
 * @param caller - The function or class that was called, for error messages. @default 'resolveTransport'
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, with how to fix it.
 * @example
 * const { transport, release } = resolveTransport({ url: 'http://127.0.0.1:8545' })
 * await transport.request({ method: 'eth_blockNumber' })
 * release()
 */
export function resolveTransport(
  input: TransportOptions | Transport,
  defaults?: Pick<TransportOptions, 'safeWrites'>,
  caller = 'resolveTransport',
): ResolvedTransport {
  // Object(), because `in` on a string, a pasted URL for example, throws an error that quotes the string.
  if ('request' in Object(input)) return { transport: input as Transport, release: () => {} }
  checkObject(caller, input, optionsExample.replace('options,', 'options or a transport,'))
  checkNames(caller, input, getTransportOptionNames())
  const transport = createTransport({ ...defaults, ...(input as TransportOptions) })
  return { transport, release: transport.close }
}
