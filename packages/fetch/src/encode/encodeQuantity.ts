import type { Hex } from '@keyrail/core'
import { invalidOption } from './invalidOption.ts'

/**
 * Encodes a whole number as a quantity of the wire.
 *
 * @param value - 0 or above. A number above 2^53-1 is rejected, because it has already lost digits.
 * @param name - The option's name, for the error message.
 * @throws {KeyrailError} kind `invalidRequest`. The message says how to fix it.
 * @example
 * encodeQuantity(16n, 'value') // '0x10'
 * @see execution-apis, schema `uint`
 */
export function encodeQuantity(value: bigint | number, name: string): Hex {
  if (typeof value === 'number') {
    if (!Number.isInteger(value))
      throw invalidOption(`${name} must be a whole number: round it, or pass a bigint in the smallest unit`)
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw invalidOption(`${name} is too large for a number to hold exactly: pass a bigint, such as 10n ** 18n`)
  } else if (typeof value !== 'bigint')
    throw invalidOption(
      `${name} must be a bigint or a whole number, not ${value === null ? 'null' : `of type ${typeof value}`}`,
    )
  if (value < 0) throw invalidOption(`${name} must not be negative`)
  const digits = value.toString(16)
  if (digits.length > 64) throw invalidOption(`${name} is above 2^256-1, the largest number that a node accepts`)
  return `0x${digits}`
}
