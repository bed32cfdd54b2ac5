import type { Hex } from '@keyrail/core'
import { isAddressGiven } from './address.ts'

/** Of the second account of every development node, as `anvil` and its like print it. Anybody's money. */
const wellKnown: Hex = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

/** The key that an example pays with: `PRIVATE_KEY`, and without it, on the chain of this machine alone, one that everybody knows. */
export function privateKey(): Hex {
  const given = process.env['PRIVATE_KEY']
  if (given) return given as Hex
  if (!isAddressGiven()) return wellKnown
  console.error('Set PRIVATE_KEY to the key of an account of yours: 0x and 64 digits.')
  process.exit(2)
}
