import type { Hash, Hex } from '@keyrail/core'

const digits = '0123456789abcdef'
/** As many characters as a function surely takes for arguments. */
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
  // Made at once, so that it is one flat string: pieces that are added up stay pieces, and take many times the room.
  let text = ''
  for (let at = 0; at < codes.length; at += chunk) text += String.fromCharCode(...codes.subarray(at, at + chunk))
  return text as Hex
}

/** The bytes of hex after `0x`. That it is such was checked where it came from. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2 - 1)
  writeHex(bytes, 0, hex)
  return bytes
}

/** Writes the bytes of hex into others, from a place on. */
export function writeHex(target: Uint8Array, start: number, hex: string): void {
  for (let at = 2; at < hex.length; at += 2) {
    target[start + at / 2 - 1] = (digit(hex.charCodeAt(at)) << 4) | digit(hex.charCodeAt(at + 1))
  }
}

/** The value of a hex digit by its character code: letters follow their place in the alphabet, in either case. */
const digit = (code: number): number => (code & 15) + (code > 57 ? 9 : 0)

/** Whether a value is whole bytes in hex after `0x`: `size` of them, where that is said. */
export function isHexData(value: unknown, size?: number): value is Hex {
  return (
    typeof value === 'string' &&
    (size === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * size) &&
    /^0x[\da-f]*$/i.test(value)
  )
}

/** Hex as it is compared: in lower case. The same string where it is so already, and not a copy that takes room of its own. */
export const lower = <T extends string>(hex: T): T => (/[A-F]/.test(hex) ? (hex.toLowerCase() as T) : hex)

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

/** A value of 32 bytes in hex, of a number or of hex of any length up to that. */
export function wordOf(value: bigint | number | Hex): Hash {
  return typeof value === 'string' ? `0x${lower(value).slice(2).padStart(64, '0')}` : `0x${word(value)}`
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
