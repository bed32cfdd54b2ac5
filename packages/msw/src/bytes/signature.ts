import type { Address, Hex } from '@keyrail/core'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { getPublicKey, hashes, recoverPublicKey, sign, Signature as RawSignature } from '@noble/secp256k1'
import { fromHex, toHex } from './hex.ts'
import { keccak } from './keccak.ts'

/** An ECDSA signature. `yParity` selects one of the two possible keys. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
}

/** Without its first byte, which says that the key is not compressed. */
const publicKeyToAddress = (publicKey: Uint8Array): Address => toHex(keccak(publicKey.slice(1)).slice(12))

/** The address of a private key. */
export function privateKeyToAddress(privateKey: Hex): Address {
  return publicKeyToAddress(getPublicKey(fromHex(privateKey), false))
}

/**
 * Recovers the address that signed a hash.
 *
 * @throws {Error} with geth's message, if the signature is invalid.
 * @see SEC 1, section 4.1.6
 */
export function recoverAddress(hash: Uint8Array, { r, s, yParity }: Signature): Address {
  try {
    const signature = new RawSignature(r, s, yParity)
    if (!signature.hasHighS() && yParity <= 1) {
      const options = { prehash: false, isCompressed: false }
      return publicKeyToAddress(recoverPublicKey(signature.toBytes('recovered'), hash, options))
    }
  } catch {
    // The same as for the other invalid signatures.
  }
  throw new Error('invalid transaction v, r, s values')
}

/** Signs a hash. The same hash and key always result in the same signature (RFC 6979). */
export function signHash(hash: Uint8Array, privateKey: Hex): Signature {
  // The library has no hash functions of its own that work synchronously.
  hashes.sha256 = sha256
  hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)
  const signed = sign(hash, fromHex(privateKey), { prehash: false, format: 'recovered' })
  const { r, s, recovery } = RawSignature.fromBytes(signed, 'recovered')
  return { r, s, yParity: recovery as 0 | 1 }
}
