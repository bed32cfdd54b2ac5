import type { Hex } from '@keyrail/core'
import type { Log } from './log.ts'
import type { TransactionType } from './transactionType.ts'

/** The receipt of a mined transaction, decoded. Members that are not declared here, such as a rollup's `l1Fee`, are as the node sent them. */
export interface TransactionReceipt {
  readonly type: TransactionType
  /** The type as a number. EIP-2718. */
  readonly typeNumber: number
  /** Missing before the Byzantium fork: see `root`. */
  readonly status: 'success' | 'reverted' | undefined
  /** The state root after the transaction. Only before the Byzantium fork. */
  readonly root: Hex | undefined
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly from: Hex
  /** Null if it created a contract. */
  readonly to: Hex | null
  /** The contract that it created. */
  readonly contractAddress: Hex | null
  readonly gasUsed: bigint
  /** Gas used by this transaction and all earlier ones in the block. */
  readonly cumulativeGasUsed: bigint
  /** In wei per unit of gas. Not every chain has it, and OP Mainnet lacks it before Bedrock. */
  readonly effectiveGasPrice: bigint | undefined
  readonly blobGasUsed: bigint | undefined
  /** In wei per unit of blob gas. */
  readonly blobGasPrice: bigint | undefined
  readonly logs: readonly Log[]
  /** Undefined if the node sends none, or a malformed one. */
  readonly logsBloom: Hex | undefined
}
