import type { Address, Hash, Hex } from '@keyrail/core'
import type { AccessList, Authorization } from '@keyrail/core/schema'
import type { LogEntry } from './logEntry.ts'

/** The fields of a transaction that its sender chooses. Amounts are in wei. */
export interface TransactionFields {
  /** 0 legacy, 1 access list, 2 dynamic fee, 3 blobs, 4 set code. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** Undefined for a legacy transaction that is valid on every chain (before EIP-155). */
  readonly chainId: bigint | undefined
  readonly nonce: number
  readonly to: Address | null
  readonly value: bigint
  readonly input: Hex
  readonly gas: number
  /** The maximum price of gas; `gasPrice` in the types 0 and 1. */
  readonly maxFee: bigint
  /** The maximum priority fee. */
  readonly maxTip: bigint
  readonly accessList: AccessList
  readonly maxBlobFee: bigint
  readonly blobHashes: readonly Hash[]
  readonly authorizations: readonly Authorization[]
}

/** A signed transaction, decoded. */
export interface PooledTransaction extends TransactionFields {
  readonly hash: Hash
  /** The bytes in the block, without blobs. */
  readonly raw: Uint8Array
  readonly from: Address
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
  /** Logs that a test emits, instead of those of a contract. */
  readonly emits?: readonly LogEntry[]
}
