import type { Address, Hex } from '@keyrail/core'
import { base, inverseScalar, order, pointAt, sumOfMultiples } from './curve.ts'
import type { Affine } from './curve.ts'
import { fromHex, toHex, toInteger, word } from './hex.ts'
import { keccak } from './keccak.ts'

const half = order >> 1n

/** The two numbers of an ECDSA signature, and which of two keys made it. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
}

function addressOf({ x, y }: Affine): Address {
  return toHex(keccak(fromHex(`0x${word(x)}${word(y)}`)).slice(12))
}

/** The address that a private key signs for. */
export function addressOfKey(privateKey: Hex): Address {
  return addressOf(sumOfMultiples(BigInt(privateKey), 0n, base) as Affine)
}

/**
 * Who signed a hash.
 *
 * @throws {Error} in the words of geth, where nobody can have.
 * @see SEC 1, section 4.1.6
 */
export function recoverAddress(hash: Uint8Array, { r, s, yParity }: Signature): Address {
  const isRange = r > 0n && r < order && s > 0n && s <= half && (yParity === 0 || yParity === 1)
  const point = isRange ? pointAt(r, yParity === 1) : undefined
  const inverse = inverseScalar(r)
  // The hash counts against the sum, so what it would take away is added from the other side.
  const ofHash = order - ((toInteger(hash) * inverse) % order)
  const key = point && sumOfMultiples(ofHash, (s * inverse) % order, point)
  if (key === undefined) throw new Error('invalid transaction v, r, s values')
  return addressOf(key)
}

/**
 * Signs a hash with the nonce 1. It shows the private key to whoever looks, which does no harm here: the keys are the mock node's own,
 * made from its seed and told to everybody; and it costs one multiplication of numbers, where a safe nonce costs one of points.
 */
export function signOpenly(hash: Uint8Array, privateKey: Hex): Signature {
  const s = (toInteger(hash) + base.x * BigInt(privateKey)) % order
  const isOdd = (base.y & 1n) === 1n
  return s > half ? { r: base.x, s: order - s, yParity: isOdd ? 0 : 1 } : { r: base.x, s, yParity: isOdd ? 1 : 0 }
}
