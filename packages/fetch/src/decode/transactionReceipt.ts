import type { Hex } from '@keyrail/core'
import type { Log } from './log.ts'
import type { TransactionType } from './transactionType.ts'

/** The receipt of a mined transaction, decoded. Members that are not declared here, such as a rollup's `l1Fee`, are as the node sent them. */
export interface TransactionReceipt {
  readonly type: TransactionType
  /** The type as a number. EIP-2718. */
  readonly typeNumber: number
  /** Missing before the Byzantium fork, where `root` stands in its place. */
  readonly status: 'success' | 'reverted' | undefined
  /** The state after the transaction: only before the Byzantium fork. */
  readonly root: Hex | undefined
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly from: Hex
  /** Null where it made a contract. */
  readonly to: Hex | null
  /** The contract that it made. */
  readonly contractAddress: Hex | null
  readonly gasUsed: bigint
  /** Gas used by this and all transactions before it in the block. */
  readonly cumulativeGasUsed: bigint
  /** In wei for each unit of gas. */
  readonly effectiveGasPrice: bigint
  readonly blobGasUsed: bigint | undefined
  /** In wei for each unit of blob gas. */
  readonly blobGasPrice: bigint | undefined
  readonly logs: readonly Log[]
  readonly logsBloom: Hex
}
