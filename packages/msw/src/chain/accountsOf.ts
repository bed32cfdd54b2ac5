import type { Address, Hex } from '@keyrail/core'
import { word } from '../bytes/hex.ts'
import { keccakText } from '../bytes/keccak.ts'
import { addressOfKey } from '../bytes/signature.ts'

/** An account of the node itself, which signs for whoever asks. */
export interface MockAccount {
  readonly address: Address
  /** Made from the seed, and no secret. */
  readonly privateKey: Hex
}

/** Who has something on a new chain. */
export interface ChainAccounts {
  readonly accounts: readonly MockAccount[]
  /** Sends what a test wants to be logged. */
  readonly emitter: MockAccount
}

const accountOf = (seed: string, name: string): MockAccount => {
  // Any hash but zero and a few above the order of the curve is a key; those do not come up.
  const privateKey = `0x${word((BigInt(keccakText(`${seed}/${name}`)) >> 1n) + 1n)}` as const
  return { address: addressOfKey(privateKey), privateKey }
}

/** The accounts of a seed. They cost tens of milliseconds, so a node makes them once, however often it begins anew. */
export const accountsOf = (seed: string): ChainAccounts => ({
  accounts: Array.from({ length: 10 }, (_, index) => accountOf(seed, `account ${index}`)),
  emitter: accountOf(seed, 'emitter'),
})
