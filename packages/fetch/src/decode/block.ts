import type { Hex } from '@keyrail/core'

/** Ether moved from the consensus layer to an account. EIP-4895. */
export interface Withdrawal {
  readonly index: number
  readonly validatorIndex: number
  readonly address: Hex
  /** In gwei, as the consensus layer counts. */
  readonly amount: bigint
}

/**
 * The fields that mined and pending blocks share. A field that a later fork added is undefined in earlier blocks, and a field that a chain does not
 * have is undefined in its blocks. A malformed field that nobody computes with, such as `stateRoot: "0x"` of Tron, is undefined too.
 */
export interface BlockCommon<T> {
  readonly parentHash: Hex
  /** Not every chain has it. */
  readonly sha3Uncles: Hex | undefined
  readonly stateRoot: Hex | undefined
  readonly transactionsRoot: Hex | undefined
  readonly receiptsRoot: Hex | undefined
  /** Not every chain has it: Celo's first blocks lack it. */
  readonly gasLimit: bigint | undefined
  readonly gasUsed: bigint
  /** In seconds since 1970. */
  readonly timestamp: bigint
  readonly extraData: Hex | undefined
  /** Not every chain has it. */
  readonly mixHash: Hex | undefined
  /** In bytes. */
  readonly size: number | undefined
  /** 0 since the merge. Not every node sends it. */
  readonly difficulty: bigint | undefined
  /** The difficulty of the chain up to this block. No longer in the specification; some nodes send it. */
  readonly totalDifficulty: bigint | undefined
  /** In wei per unit of gas. EIP-1559. */
  readonly baseFeePerGas: bigint | undefined
  /** EIP-4844. */
  readonly blobGasUsed: bigint | undefined
  /** EIP-4844. */
  readonly excessBlobGas: bigint | undefined
  /** EIP-4788. */
  readonly parentBeaconBlockRoot: Hex | undefined
  /** EIP-4895. */
  readonly withdrawalsRoot: Hex | undefined
  /** EIP-4895. */
  readonly withdrawals: readonly Withdrawal[] | undefined
  /** EIP-7685. */
  readonly requestsHash: Hex | undefined
  /** EIP-7928. */
  readonly blockAccessListHash: Hex | undefined
  /** EIP-7843. */
  readonly slotNumber: bigint | undefined
  /** Empty if the node sends none. */
  readonly uncles: readonly Hex[]
  /** Hashes, or full transactions with `includeTransactions`. */
  readonly transactions: readonly T[]
}

/**
 * A block, decoded. Members that are not declared here are as the node sent them.
 * `T` is the type of its transactions: `Hex` for hashes, or `Transaction`.
 */
export interface Block<T = Hex> extends BlockCommon<T> {
  readonly hash: Hex
  readonly number: bigint
  readonly miner: Hex
  /** Eight bytes of proof of work; zeros since the merge. Not every chain has it. */
  readonly nonce: Hex | undefined
  /** Not every chain has it. */
  readonly logsBloom: Hex | undefined
}

/** The header of a block, decoded: a {@link Block} without its transactions, uncles and withdrawals. */
export type BlockHeader = Omit<Block, 'size' | 'uncles' | 'withdrawals' | 'transactions'>

/** The block that a node is building: fields that are not known yet may be null. */
export interface PendingBlock<T = Hex> extends BlockCommon<T> {
  readonly hash: Hex | null
  readonly number: bigint | null
  readonly miner: Hex | null
  readonly nonce: Hex | null
  readonly logsBloom: Hex | null
}
