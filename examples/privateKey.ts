import type { Hex } from '@keyrail/core'
import { isEndpointSet } from './endpoint.ts'

/** The key of the second account of every development node. It is public: never use it on a real chain. */
const wellKnown: Hex = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

/** Returns the private key that pays in an example: `PRIVATE_KEY`, or, only on the chain of this machine, a well-known test key. */
export function getPrivateKey(): Hex {
  const given = process.env['PRIVATE_KEY']
  if (given) return given as Hex
  if (!isEndpointSet()) return wellKnown
  console.error('Set PRIVATE_KEY to the private key of your account: 0x and 64 hex digits.')
  process.exit(2)
}
