import type { BlockIdentifier } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** A storage slot and the trie nodes that prove it. Source: execution-apis, `StorageProof`. */
export interface StorageProof {
  key: Hash
  value: Quantity
  proof: Bytes[]
}

/** An account and the trie nodes that prove it. Source: execution-apis, `AccountProof`; EIP-1186. */
export interface AccountProof {
  address: Address
  accountProof: Bytes[]
  balance: Quantity
  codeHash: Hash
  nonce: Quantity
  storageHash: Hash
  storageProof: StorageProof[]
}

/** Reads with proofs. */
export interface ProofMethods {
  /** An account, some of its storage slots, and the proof of both. Source: execution-apis, eth/state; EIP-1186. */
  eth_getProof(address: Address, storageKeys: readonly Hash[], block?: BlockIdentifier): Promise<AccountProof>
}
