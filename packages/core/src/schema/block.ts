import type { BlockNumberOrTag, MinedBlockNumberOrTag } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { RpcPendingTransaction, RpcTransaction } from './transaction.ts'
import type { RpcWithdrawal } from './withdrawal.ts'

/** The header fields that are set before the block is sealed. Source: execution-apis, `Block`. */
export interface BlockHeaderFields {
  parentHash: Hash
  sha3Uncles: Hash
  stateRoot: Hash
  transactionsRoot: Hash
  receiptsRoot: Hash
  gasLimit: Quantity
  gasUsed: Quantity
  timestamp: Quantity
  extraData: Bytes
  mixHash: Hash
  difficulty?: Quantity
  /** Sent by some nodes; no longer in the specification. */
  totalDifficulty?: Quantity
  /** Since London, EIP-1559. */
  baseFeePerGas?: Quantity
  /** Since Shanghai, EIP-4895. */
  withdrawalsRoot?: Hash
  /** Since Cancun, EIP-4844. */
  blobGasUsed?: Quantity
  /** Since Cancun, EIP-4844. */
  excessBlobGas?: Quantity
  /** Since Cancun, EIP-4788. */
  parentBeaconBlockRoot?: Hash
  /** Since Prague, EIP-7685. */
  requestsHash?: Hash
  /** Since Amsterdam, EIP-7928. */
  blockAccessListHash?: Hash
  /** Since Amsterdam, EIP-7843. */
  slotNumber?: Quantity
}

/** The header of a block in the chain. */
export interface RpcBlockHeader extends BlockHeaderFields {
  number: Quantity
  hash: Hash
  nonce: Bytes
  miner: Address
  logsBloom: Bytes
}

/** The header of a block that may still be pending. Fields that are set last are `null` until then. */
export interface RpcPendingBlockHeader extends BlockHeaderFields {
  number: Quantity | null
  hash: Hash | null
  nonce: Bytes | null
  miner: Address | null
  logsBloom: Bytes | null
}

/** The parts of a block other than its header and transactions. */
export interface BlockBody {
  size: Quantity
  uncles: Hash[]
  /** Since Shanghai, EIP-4895. */
  withdrawals?: RpcWithdrawal[]
}

/** A block with transaction hashes. Source: execution-apis, `Block`. */
export interface RpcBlockWithHashes extends RpcBlockHeader, BlockBody {
  transactions: Hash[]
}

/** A block with full transactions. Source: execution-apis, `Block`. */
export interface RpcBlockWithTransactions extends RpcBlockHeader, BlockBody {
  transactions: RpcTransaction[]
}

/**
 * A block, with either its transactions or their hashes. `RpcBlock<true>` has the transactions, `RpcBlock<false>` the hashes.
 *
 * @example
 * const countTransactions = (block: RpcBlock): number => block.transactions.length
 */
export type RpcBlock<WithTransactions extends boolean = boolean> = WithTransactions extends true
  ? RpcBlockWithTransactions
  : RpcBlockWithHashes

/** A block that may still be pending, with transaction hashes. */
export interface RpcPendingBlockWithHashes extends RpcPendingBlockHeader, BlockBody {
  transactions: Hash[]
}

/** A block that may still be pending, with full transactions. */
export interface RpcPendingBlockWithTransactions extends RpcPendingBlockHeader, BlockBody {
  transactions: (RpcTransaction | RpcPendingTransaction)[]
}

/** An uncle: a header beside the chain, sent with no transactions. */
export interface Uncle extends RpcBlockHeader {
  size: Quantity
  uncles: Hash[]
  transactions?: Hash[]
  withdrawals?: RpcWithdrawal[]
}

/** Reads of blocks. */
export interface BlockMethods {
  /** The number of the newest block. Source: execution-apis, eth/client. */
  eth_blockNumber(): Promise<Quantity>

  /** A block by hash, with transaction hashes. Source: execution-apis, eth/block. */
  eth_getBlockByHash(hash: Hash, hydrated: false): Promise<RpcBlockWithHashes | null>
  /** A block by hash, with full transactions. Source: execution-apis, eth/block. */
  eth_getBlockByHash(hash: Hash, hydrated: true): Promise<RpcBlockWithTransactions | null>
  /** A block by hash. Source: execution-apis, eth/block. */
  eth_getBlockByHash(hash: Hash, hydrated: boolean): Promise<RpcBlock | null>

  /** A block of the chain, with transaction hashes. Source: execution-apis, eth/block. */
  eth_getBlockByNumber(block: MinedBlockNumberOrTag, hydrated: false): Promise<RpcBlockWithHashes | null>
  /** A block of the chain, with full transactions. Source: execution-apis, eth/block. */
  eth_getBlockByNumber(block: MinedBlockNumberOrTag, hydrated: true): Promise<RpcBlockWithTransactions | null>
  /** A block of the chain. Source: execution-apis, eth/block. */
  eth_getBlockByNumber(block: MinedBlockNumberOrTag, hydrated: boolean): Promise<RpcBlock | null>
  /** A block that may be pending, with transaction hashes. Source: execution-apis, eth/block; geth for what is `null`. */
  eth_getBlockByNumber(block: BlockNumberOrTag, hydrated: false): Promise<RpcPendingBlockWithHashes | null>
  /** A block that may be pending, with full transactions. Source: execution-apis, eth/block; geth for what is `null`. */
  eth_getBlockByNumber(block: BlockNumberOrTag, hydrated: true): Promise<RpcPendingBlockWithTransactions | null>
  /** A block that may be pending. Source: execution-apis, eth/block; geth for what is `null`. */
  eth_getBlockByNumber(
    block: BlockNumberOrTag,
    hydrated: boolean,
  ): Promise<RpcPendingBlockWithHashes | RpcPendingBlockWithTransactions | null>

  /** A header by the block's hash. Source: geth and reth, eth namespace. */
  eth_getHeaderByHash(hash: Hash): Promise<RpcBlockHeader | null>
  /** A header of the chain. Source: geth and reth, eth namespace. */
  eth_getHeaderByNumber(block: MinedBlockNumberOrTag): Promise<RpcBlockHeader | null>
  /** A header that may be pending. Source: geth and reth, eth namespace. */
  eth_getHeaderByNumber(block: BlockNumberOrTag): Promise<RpcPendingBlockHeader | null>

  /** How many transactions a block holds, by its hash. Source: execution-apis, eth/block. */
  eth_getBlockTransactionCountByHash(hash: Hash): Promise<Quantity | null>
  /** How many transactions a block holds, by its number or tag. Source: execution-apis, eth/block. */
  eth_getBlockTransactionCountByNumber(block: BlockNumberOrTag): Promise<Quantity | null>

  /** An uncle by its place in a block that is named by hash. Source: execution-apis before 2025, eth/block; geth. */
  eth_getUncleByBlockHashAndIndex(hash: Hash, index: Quantity): Promise<Uncle | null>
  /** An uncle by its place in a block that is named by number or tag. Source: execution-apis before 2025, eth/block; geth. */
  eth_getUncleByBlockNumberAndIndex(block: BlockNumberOrTag, index: Quantity): Promise<Uncle | null>
  /** How many uncles a block has, by its hash. Source: execution-apis before 2025, eth/block; geth. */
  eth_getUncleCountByBlockHash(hash: Hash): Promise<Quantity | null>
  /** How many uncles a block has, by its number or tag. Source: execution-apis before 2025, eth/block; geth. */
  eth_getUncleCountByBlockNumber(block: BlockNumberOrTag): Promise<Quantity | null>
}
