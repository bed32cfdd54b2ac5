import type { Hash, Hex } from '@keyrail/core'

const digits = '0123456789abcdef'
/** A number of arguments that every engine accepts in one call. */
const chunk = 8_192

/** Bytes as lower-case hex after `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  const codes = new Uint8Array(2 + 2 * bytes.length)
  codes[0] = 48
  codes[1] = 120
  for (const [at, byte] of bytes.entries()) {
    codes[2 + 2 * at] = digits.charCodeAt(byte >> 4)
    codes[3 + 2 * at] = digits.charCodeAt(byte & 15)
  }
  // Built in large chunks: a string concatenated from single characters takes many times the memory.
  let text = ''
  for (let at = 0; at < codes.length; at += chunk) text += String.fromCharCode(...codes.subarray(at, at + chunk))
  return text as Hex
}

/** Parses hex after `0x`. The caller has validated it. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2 - 1)
  for (let at = 2; at < hex.length; at += 2)
    bytes[at / 2 - 1] = (digit(hex.charCodeAt(at)) << 4) | digit(hex.charCodeAt(at + 1))
  return bytes
}

/** The value of a hex digit by its character code. The low four bits of a letter are its position in the alphabet. */
const digit = (code: number): number => (code & 15) + (code > 57 ? 9 : 0)

/** Whether a value is bytes in hex after `0x`, and exactly `size` bytes if that is given. */
export function isHexData(value: unknown, size?: number): value is Hex {
  return (
    typeof value === 'string' &&
    (size === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * size) &&
    /^0x[\da-f]*$/i.test(value)
  )
}

/** Converts hex to lower case. Returns the same string, not a copy, if it is in lower case already. */
export const lower = <T extends string>(hex: T): T => (/[A-F]/.test(hex) ? (hex.toLowerCase() as T) : hex)

/** Formats a number as a JSON-RPC quantity: hex without leading zeros. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}

/** Converts a number to big-endian bytes without leading zeros, as in RLP: zero is no bytes. */
export function toIntegerBytes(value: number | bigint): Uint8Array {
  if (!value) return new Uint8Array(0)
  const digits = value.toString(16)
  return fromHex(`0x${digits.length % 2 ? '0' : ''}${digits}`)
}

/** A number as 32 bytes in hex, without the `0x`. */
export function word(value: number | bigint): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
}

/** Converts a number or shorter hex to 32 bytes in hex. */
export function toWord(value: bigint | number | Hex): Hash {
  return typeof value === 'string' ? `0x${lower(value).slice(2).padStart(64, '0')}` : `0x${word(value)}`
}

/** Reads big-endian bytes as a number. */
export function toInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

/** Concatenates arrays of bytes. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
