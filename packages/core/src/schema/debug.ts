import type { RpcBlockWithHashes, RpcBlockWithTransactions } from './block.ts'
import type { BlockIdentifier, BlockNumberOrTag } from './blockTag.ts'
import type { Address, Bytes, Hash } from './hex.ts'

/** A block that the node rejected. Source: execution-apis, `BadBlock`. */
export interface BadBlock {
  hash: Hash
  block: RpcBlockWithTransactions | RpcBlockWithHashes
  rlp: Bytes
}

/** A storage slot in a range. Source: geth, debug_storageRangeAt. */
export interface StorageRangeEntry {
  /** `null` if the node does not know which slot the hash is of. */
  key: Hash | null
  value: Hash
}

/** Storage slots by the hash of their key. Source: geth, debug_storageRangeAt. */
export interface StorageRangeEntries {
  [keyHash: Hash]: StorageRangeEntry
}

/** A part of a contract's storage. Source: geth, debug_storageRangeAt. */
export interface StorageRange {
  storage: StorageRangeEntries
  /** The start of the next part; `null` at the end. */
  nextKey: Hash | null
}

/** The data needed to run a block without a database. Source: reth and geth, debug_executionWitness. */
export interface ExecutionWitness {
  state: Bytes[]
  codes: Bytes[]
  keys?: Bytes[]
  headers?: Bytes[]
}

/** Raw data of the chain. */
export interface DebugMethods {
  /** Blocks that the node rejected recently. Source: execution-apis, debug. */
  debug_getBadBlocks(): Promise<BadBlock[]>
  /** A block, RLP encoded. Source: execution-apis, debug. */
  debug_getRawBlock(block: BlockNumberOrTag): Promise<Bytes>
  /** The access list of a block, RLP encoded. Source: execution-apis, debug; EIP-7928. */
  debug_getRawBlockAccessList(block: BlockNumberOrTag): Promise<Bytes>
  /** A header, RLP encoded. Source: execution-apis, debug. */
  debug_getRawHeader(block: BlockNumberOrTag): Promise<Bytes>
  /** The receipts of a block, each EIP-2718 encoded. Source: execution-apis, debug. */
  debug_getRawReceipts(block: BlockNumberOrTag): Promise<Bytes[]>
  /** A transaction, EIP-2718 encoded. Source: execution-apis, debug. */
  debug_getRawTransaction(hash: Hash): Promise<Bytes>
  /** A part of a contract's storage as it was before a transaction of a block. Source: geth, debug namespace. */
  debug_storageRangeAt(
    block: BlockIdentifier,
    transactionIndex: number,
    contract: Address,
    startKey: Bytes,
    limit: number,
  ): Promise<StorageRange>
  /** The data needed to run a block without a database. Source: reth and geth, debug namespace. */
  debug_executionWitness(block: BlockNumberOrTag): Promise<ExecutionWitness>
  /** The state root after each transaction of a block. Source: geth and reth, debug namespace. */
  debug_intermediateRoots(blockHash: Hash): Promise<Hash[]>
}
