import type { Address, Hex } from '@keyrail/core'
import { etc, Point } from '@noble/secp256k1'
import { concat, fromHex, toHex, toInteger, word } from './hex.ts'
import { keccak } from './keccak.ts'

const { n, Gx, Gy } = Point.CURVE()
const half = n >> 1n

/** The two numbers of an ECDSA signature, and which of two keys made it. */
export interface Signature {
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
}

/** The address of a public key of 65 bytes. */
function addressOf(publicKey: Uint8Array): Address {
  return toHex(keccak(publicKey.slice(1)).slice(12))
}

/** The address that a private key signs for. */
export function addressOfKey(privateKey: Hex): Address {
  return addressOf(Point.BASE.multiply(toInteger(fromHex(privateKey))).toBytes(false))
}

/**
 * Who signed a hash.
 *
 * @throws {Error} in the words of geth, where nobody can have.
 */
export function recoverAddress(hash: Uint8Array, { r, s, yParity }: Signature): Address {
  try {
    if (r <= 0n || r >= n || s <= 0n || s > half) throw new RangeError()
    const point = Point.fromBytes(concat(Uint8Array.of(2 + yParity), fromHex(`0x${word(r)}`)))
    const inverse = etc.invert(r, n)
    // The parts add up to the public key: what of it the hash made, and what the key did. SEC 1, section 4.1.6.
    const ofHash = Point.BASE.multiply(etc.mod(-toInteger(hash) * inverse, n), false)
    return addressOf(ofHash.add(point.multiply((s * inverse) % n, false)).toBytes(false))
  } catch {
    throw new Error('invalid transaction v, r, s values')
  }
}

/**
 * Signs a hash with the nonce 1. It shows the private key to whoever looks, which does no harm here: the keys are the mock node's own,
 * made from its seed and told to everybody; and it costs one multiplication of numbers, where a safe nonce costs one of points.
 */
export function signOpenly(hash: Uint8Array, privateKey: Hex): Signature {
  const s = (toInteger(hash) + Gx * toInteger(fromHex(privateKey))) % n
  const odd = (Gy & 1n) === 1n
  return s > half ? { r: Gx, s: n - s, yParity: odd ? 0 : 1 } : { r: Gx, s, yParity: odd ? 1 : 0 }
}
