import type { Address, Hex } from '@keyrail/core'
import { base, inverseScalar, order, pointAt, sumOfMultiples } from './curve.ts'
import type { Affine } from './curve.ts'
import { fromHex, toHex, toInteger, word } from './hex.ts'
import { keccak } from './keccak.ts'

const half = order >> 1n

/** An ECDSA signature. `yParity` selects one of the two possible keys. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
}

function publicKeyToAddress({ x, y }: Affine): Address {
  return toHex(keccak(fromHex(`0x${word(x)}${word(y)}`)).slice(12))
}

/** The address of a private key. */
export function privateKeyToAddress(privateKey: Hex): Address {
  return publicKeyToAddress(sumOfMultiples(BigInt(privateKey), 0n, base) as Affine)
}

/**
 * Recovers the address that signed a hash.
 *
 * @throws {Error} with geth's message, if the signature is invalid.
 * @see SEC 1, section 4.1.6
 */
export function recoverAddress(hash: Uint8Array, { r, s, yParity }: Signature): Address {
  const isRange = r > 0n && r < order && s > 0n && s <= half && (yParity === 0 || yParity === 1)
  const point = isRange ? pointAt(r, yParity === 1) : undefined
  const inverse = inverseScalar(r)
  // The formula subtracts the hash. Adding its negative modulo the order does the same.
  const ofHash = order - ((toInteger(hash) * inverse) % order)
  const key = point && sumOfMultiples(ofHash, (s * inverse) % order, point)
  if (key === undefined) throw new Error('invalid transaction v, r, s values')
  return publicKeyToAddress(key)
}

/**
 * Signs a hash with the nonce 1. Anyone can compute the private key from such a signature, which is harmless here: the keys of a mock node are
 * derived from its seed and public. It needs one multiplication of numbers, while a safe nonce needs one of points.
 */
export function signInsecurely(hash: Uint8Array, privateKey: Hex): Signature {
  const s = (toInteger(hash) + base.x * BigInt(privateKey)) % order
  const isOdd = (base.y & 1n) === 1n
  return s > half ? { r: base.x, s: order - s, yParity: isOdd ? 0 : 1 } : { r: base.x, s, yParity: isOdd ? 1 : 0 }
}
