import type { Hash } from '@keyrail/core'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toHex } from './hex.ts'

const fresh = /* @__PURE__ */ keccak_256.create()
const state = /* @__PURE__ */ keccak_256.create()

/** keccak256 as bytes. */
export function keccak(bytes: Uint8Array): Uint8Array {
  // Reuses one state: a chain computes dozens of hashes for each block, and each would allocate a state.
  return fresh._cloneInto(state).update(bytes).digest()
}

/** keccak256 in hex. */
export function keccakHex(bytes: Uint8Array): Hash {
  return toHex(keccak(bytes))
}

/** keccak256 of a text's UTF-8 bytes, in hex. */
export function keccakText(text: string): Hash {
  return keccakHex(new TextEncoder().encode(text))
}
