import { checkNames } from '@keyrail/core/internal'
import type { CallOptions, EthereumRpc } from '@keyrail/core'
import { invalidOption } from '../encode/invalidOption.ts'
import type { ReadClient } from './readClient.ts'

const names: Readonly<Record<keyof CallOptions, true>> = {
  signal: true,
  timeoutMs: true,
  retries: true,
  priority: true,
  minBlock: true,
}

/** The name of every call option. */
export const callOptionNames = Object.keys(names) as readonly (keyof CallOptions)[]

/**
 * Picks the call options out of a function's options. An option that is undefined counts as missing.
 *
 * @param options - The options of a read, which may contain others too.
 */
export function pickCallOptions(options: CallOptions): CallOptions {
  const given = callOptionNames.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]]))
}

/**
 * Checks the option names of a read and binds its call options to the client.
 *
 * @param read - The name of the read, for error messages.
 * @param client - The client.
 * @param options - The options of the read. The transport checks the values of call options.
 * @param own - The names of the read's own options. @default none
 * @returns The client to call: the given one if there is no call option.
 * @throws {KeyrailError} kind `invalidRequest` for an unknown name, and for call options if the client has no `with()`.
 */
export function bindCallOptions<Method extends keyof EthereumRpc>(
  read: string,
  client: ReadClient<Method>,
  options: CallOptions,
  own: readonly string[] = [],
): Pick<EthereumRpc, Method> {
  checkNames(read, options, [...own, ...callOptionNames])
  const callOptions = pickCallOptions(options)
  const given = Object.keys(callOptions)
  if (given.length === 0) return client
  if (client.with) return client.with(callOptions)
  throw invalidOption(
    `${read} cannot apply ${given.join(' and ')}: this client has no with(). Use a client of createClient, or leave them out`,
  )
}
