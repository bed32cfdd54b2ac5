import type { BlockIdentifier } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** Which slots are wanted, by contract. Source: execution-apis, eth/state. */
export interface StorageRequests {
  [address: Address]: readonly Hash[]
}

/** Slot values by contract, in the requested order. Source: execution-apis, eth/state. */
export interface StorageValues {
  [address: Address]: Hash[]
}

/** An account as the state trie holds it. Source: Nethermind and reth, eth_getAccount. */
export interface Account {
  balance: Quantity
  nonce: Quantity
  codeHash: Hash
  storageRoot: Hash
}

/** An account and its code. Source: reth and anvil, eth_getAccountInfo. */
export interface AccountInfo {
  balance: Quantity
  nonce: Quantity
  code: Bytes
}

/** Reads of the state. `block` defaults to `latest`. */
export interface StateMethods {
  /** The balance of an account, in wei. Source: execution-apis, eth/state. */
  eth_getBalance(address: Address, block?: BlockIdentifier): Promise<Quantity>
  /** The nonce of an account: with `pending`, the next one to use. Source: execution-apis, eth/state. */
  eth_getTransactionCount(address: Address, block?: BlockIdentifier): Promise<Quantity>
  /** The code of an account; `0x` if there is none. Source: execution-apis, eth/state. */
  eth_getCode(address: Address, block?: BlockIdentifier): Promise<Bytes>
  /** The value of a storage slot. Source: execution-apis, eth/state. */
  eth_getStorageAt(address: Address, slot: Hash, block?: BlockIdentifier): Promise<Bytes>
  /** The values of many storage slots of many contracts. Source: execution-apis, eth/state. */
  eth_getStorageValues(requests: StorageRequests, block?: BlockIdentifier): Promise<StorageValues>
  /** An account as the state trie holds it. Source: Nethermind and reth, eth namespace. */
  eth_getAccount(address: Address, block: BlockIdentifier): Promise<Account | null>
  /** An account's balance, nonce and code in one call. Source: reth and anvil, eth namespace. */
  eth_getAccountInfo(address: Address, block: BlockIdentifier): Promise<AccountInfo>
}
