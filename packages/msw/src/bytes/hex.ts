import type { Hex } from '@keyrail/core'

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Bytes as lower-case hex after `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  let text = '0x'
  for (const byte of bytes) text += pairs[byte]
  return text as Hex
}

/**
 * The bytes of hex after `0x`.
 *
 * @throws {TypeError} where it is no hex, or a digit is left over.
 */
export function fromHex(hex: string): Uint8Array {
  if (!isHexData(hex)) throw new TypeError('not hex bytes after 0x')
  const bytes = new Uint8Array(hex.length / 2 - 1)
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = (digit(hex.charCodeAt(2 * at + 2)) << 4) | digit(hex.charCodeAt(2 * at + 3))
  }
  return bytes
}

/** The value of a hex digit by its character code: letters follow their place in the alphabet, in either case. */
const digit = (code: number): number => (code & 15) + (code > 57 ? 9 : 0)

/** Whether a value is whole bytes in hex after `0x`. */
export function isHexData(value: unknown): value is Hex {
  return typeof value === 'string' && value.length % 2 === 0 && /^0x[\da-f]*$/i.test(value)
}

/** A number as nodes write it: hex without leading zeros. */
export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}

/** A number as big-endian bytes without leading zeros, as RLP has it: zero is none at all. */
export function integerBytes(value: number | bigint): Uint8Array {
  if (!value) return new Uint8Array(0)
  const digits = value.toString(16)
  return fromHex(`0x${digits.length % 2 ? '0' : ''}${digits}`)
}

/** A number as 32 bytes in hex, without the `0x`. */
export function word(value: number | bigint): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
}

/** The number that bytes are, big-endian. */
export function toInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

/** Several runs of bytes as one. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
