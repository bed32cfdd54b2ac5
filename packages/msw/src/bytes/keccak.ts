import type { Hash } from '@keyrail/core'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toHex } from './hex.ts'

/** keccak256 as bytes. */
export const keccak = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

/** keccak256 in hex. */
export function keccakHex(bytes: Uint8Array): Hash {
  return toHex(keccak(bytes))
}

/** keccak256 of a text's UTF-8 bytes, in hex. */
export function keccakText(text: string): Hash {
  return keccakHex(new TextEncoder().encode(text))
}
