import type { Hex } from '@keyrail/core'

/** Coins moved from the consensus layer to an account. EIP-4895. */
export interface Withdrawal {
  readonly index: number
  readonly validatorIndex: number
  readonly address: Hex
  /** In gwei, as the consensus layer counts. */
  readonly amount: bigint
}

/** The fields of a block that a pending one has too. What a later fork brought is undefined before it. */
export interface BlockCommon<T> {
  readonly parentHash: Hex
  readonly sha3Uncles: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** In seconds since 1970. */
  readonly timestamp: bigint
  readonly extraData: Hex
  readonly mixHash: Hex
  /** In bytes. */
  readonly size: number
  /** 0 since the merge. Not every node says it. */
  readonly difficulty: bigint | undefined
  /** The difficulty of the chain up to this block. No longer in the specification; some nodes send it. */
  readonly totalDifficulty: bigint | undefined
  /** In wei for each unit of gas. EIP-1559. */
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
  readonly uncles: readonly Hex[]
  /** Hashes, or whole transactions where they were asked for. */
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
  /** Eight bytes of proof of work; zeros since the merge. */
  readonly nonce: Hex
  readonly logsBloom: Hex
}

/** The block that a node is building: what is not settled yet may be null. */
export interface PendingBlock<T = Hex> extends BlockCommon<T> {
  readonly hash: Hex | null
  readonly number: bigint | null
  readonly miner: Hex | null
  readonly nonce: Hex | null
  readonly logsBloom: Hex | null
}
