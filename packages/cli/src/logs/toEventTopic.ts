import type { Hex } from '@keyrail/core'
import { hashSignature, parseSignature } from '../abi/parseSignature.ts'
import type { Signature } from '../abi/parseSignature.ts'
import { wrongUsage } from '../cliError.ts'

const createEventError = (message: string): Error =>
  wrongUsage(`--event ${message}`, "use a Solidity event signature: --event 'Transfer(address,address,uint256)'")

/**
 * Parses the value of `--event`.
 *
 * @param event - The event as in Solidity. Parameter names, `indexed`, `event` and a semicolon are optional; `uint` means `uint256`.
 * @throws {CliError} exit code 2 if it cannot be parsed.
 */
export function parseEvent(event: string): Signature {
  const signature = parseSignature(event, createEventError)
  if (signature.outputs !== undefined) throw createEventError('cannot be parsed')
  return signature
}

/**
 * Computes the first topic of an event's logs: the hash of its signature.
 *
 * @param event - As for {@link parseEvent}.
 * @throws {CliError} exit code 2 if it cannot be parsed.
 * @example
 * toEventTopic('Transfer(address indexed from, address indexed to, uint256 value)') // '0xddf252ad…'
 * @see Contract ABI specification, events
 */
export const toEventTopic = (event: string): Hex => hashSignature(parseEvent(event))
