/*
 * The part of the curve secp256k1 that is needed to recover the signer of a transaction. It does not run in constant time, which is safe here,
 * because the keys of a mock node are public. A library would be five times larger.
 */

const p = 2n ** 256n - 2n ** 32n - 977n
/** The order of the curve: scalars are below it. */
export const order: bigint = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** The base point, of which public keys are multiples. SEC 2, section 2.4.1. */
export const base: Affine = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
}

/** A point of the curve. */
export interface Affine {
  readonly x: bigint
  readonly y: bigint
}

/** In Jacobian coordinates, which need no division; z is 0 at infinity. */
type Jacobian = readonly [x: bigint, y: bigint, z: bigint]

const mod = (value: bigint, modulus = p): bigint => ((value % modulus) + modulus) % modulus

function power(value: bigint, exponent: bigint, modulus = p): bigint {
  let result = 1n
  let square = mod(value, modulus)
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** The modular inverse of a scalar. */
export const inverseScalar = (scalar: bigint): bigint => power(scalar, order - 2n, order)

function double([x, y, z]: Jacobian): Jacobian {
  const yy = (y * y) % p
  const s = (4n * x * yy) % p
  const m = (3n * x * x) % p
  const x3 = mod(m * m - 2n * s)
  return [x3, mod(m * (s - x3) - 8n * yy * yy), (2n * y * z) % p]
}

function add(one: Jacobian, other: Jacobian): Jacobian {
  const [x1, y1, z1] = one
  const [x2, y2, z2] = other
  if (z1 === 0n) return other
  if (z2 === 0n) return one
  const zz1 = (z1 * z1) % p
  const zz2 = (z2 * z2) % p
  const u1 = (x1 * zz2) % p
  const s1 = (y1 * zz2 * z2) % p
  const h = mod(x2 * zz1 - u1)
  const r = mod(y2 * zz1 * z1 - s1)
  if (h === 0n) return r === 0n ? double(one) : [1n, 1n, 0n]
  const hh = (h * h) % p
  const hhh = (h * hh) % p
  const v = (u1 * hh) % p
  const x3 = mod(r * r - hhh - 2n * v)
  return [x3, mod(r * (v - x3) - s1 * hhh), (h * z1 * z2) % p]
}

/**
 * The sum of a multiple of the base point and one of another point.
 *
 * @returns undefined at infinity.
 */
export function sumOfMultiples(ofBase: bigint, ofPoint: bigint, point: Affine): Affine | undefined {
  const one: Jacobian = [base.x, base.y, 1n]
  const other: Jacobian = [point.x, point.y, 1n]
  const both = add(one, other)
  let sum: Jacobian = [1n, 1n, 0n]
  for (let bit = 255n; bit >= 0n; bit--) {
    sum = double(sum)
    const first = (ofBase >> bit) & 1n
    const second = (ofPoint >> bit) & 1n
    if (first || second) sum = add(sum, first && second ? both : first ? one : other)
  }
  const [x, y, z] = sum
  if (z === 0n) return undefined
  const inverse = power(z, p - 2n)
  return { x: mod(x * inverse * inverse), y: mod(y * inverse * inverse * inverse) }
}

/** The point with a given x and an odd or even y; undefined if there is none. */
export function pointAt(x: bigint, odd: boolean): Affine | undefined {
  const yy = mod(x * x * x + 7n)
  const y = power(yy, (p + 1n) / 4n)
  if (x >= p || (y * y) % p !== yy) return undefined
  return { x, y: ((y & 1n) === 1n) === odd ? y : p - y }
}
