import type { BlockIdentifier } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** A new value of a storage slot; `index` is the transaction that wrote it, from 1. */
export interface StorageChange {
  index: Quantity
  value: Hash
}

/** All writes to one storage slot. */
export interface SlotChanges {
  key: Hash
  changes: StorageChange[]
}

/** A new balance, in wei. */
export interface BalanceChange {
  index: Quantity
  value: Quantity
}

/** A new nonce. */
export interface NonceChange {
  index: Quantity
  value: Quantity
}

/** New code. */
export interface CodeChange {
  index: Quantity
  code: Bytes
}

/** The changes and reads of one account by a block. */
export interface AccountAccess {
  address: Address
  storageChanges?: SlotChanges[]
  storageReads?: Hash[]
  balanceChanges?: BalanceChange[]
  nonceChanges?: NonceChange[]
  codeChanges?: CodeChange[]
}

/** Everything a block touched, by account. Source: EIP-7928. */
export type BlockAccessList = AccountAccess[]

/** Reads of block access lists. */
export interface BlockAccessListMethods {
  /** The changes and reads of a block, by account. Source: execution-apis, eth/block; EIP-7928. */
  eth_getBlockAccessList(block: BlockIdentifier): Promise<BlockAccessList | null>
}
