import type { Address, Hex } from '@keyrail/core'
import { word } from '../bytes/hex.ts'
import { keccakText } from '../bytes/keccak.ts'
import { privateKeyToAddress } from '../bytes/signature.ts'

/** An account that the node signs for. */
export interface MockAccount {
  readonly address: Address
  /** Derived from the seed, so it is not a secret. */
  readonly privateKey: Hex
}

/** The accounts with a balance on a new chain. */
export interface ChainAccounts {
  readonly accounts: readonly MockAccount[]
  /** Sends the transactions of `emit`. */
  readonly emitter: MockAccount
}

const createAccount = (seed: string, name: string): MockAccount => {
  // Almost every hash is a valid key: only zero and a few above the order of the curve are not.
  const privateKey = `0x${word((BigInt(keccakText(`${seed}/${name}`)) >> 1n) + 1n)}` as const
  return { address: privateKeyToAddress(privateKey), privateKey }
}

/** Derives the accounts from a seed. This takes tens of milliseconds, so a node does it once and reuses them after `reset()`. */
export const createAccounts = (seed: string): ChainAccounts => ({
  accounts: Array.from({ length: 10 }, (_, index) => createAccount(seed, `account ${index}`)),
  emitter: createAccount(seed, 'emitter'),
})
