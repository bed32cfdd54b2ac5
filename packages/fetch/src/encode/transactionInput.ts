import type { Hex } from '@keyrail/core'
import type { AccessListEntry } from '@keyrail/core/schema'
import type { Authorization } from '../decode/transaction.ts'

/** An unsigned transaction, for `call` and `estimateGas`. Every field is optional. */
export interface TransactionInput {
  /** The account to run it as. @default the zero address */
  readonly from?: Hex | undefined
  /** If missing, the transaction creates a contract from `data`. */
  readonly to?: Hex | null | undefined
  readonly data?: Hex | undefined
  /** In wei. */
  readonly value?: bigint | number | undefined
  /** The most gas it may use. */
  readonly gas?: bigint | number | undefined
  /** In wei per unit of gas. */
  readonly gasPrice?: bigint | number | undefined
  /** In wei per unit of gas. EIP-1559. */
  readonly maxFeePerGas?: bigint | number | undefined
  /** In wei per unit of gas. EIP-1559. */
  readonly maxPriorityFeePerGas?: bigint | number | undefined
  /** In wei per unit of blob gas. EIP-4844. */
  readonly maxFeePerBlobGas?: bigint | number | undefined
  readonly nonce?: bigint | number | undefined
  /** EIP-2930. */
  readonly accessList?: readonly AccessListEntry[] | undefined
  /** EIP-4844. */
  readonly blobVersionedHashes?: readonly Hex[] | undefined
  /** EIP-7702. */
  readonly authorizationList?: readonly Authorization[] | undefined
}
