import type { Address, Hash } from './hex.ts'

/** One account of an access list and the storage slots touched in it. Source: EIP-2930. */
export interface AccessListEntry {
  address: Address
  storageKeys: readonly Hash[]
}

/** Accounts and slots that a transaction declares in advance. Source: EIP-2930. */
export type AccessList = readonly AccessListEntry[]
