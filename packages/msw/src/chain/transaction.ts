import type { AccessList, Address, Authorization, Hash, Hex } from '@keyrail/core'
import type { LogEntry } from './logEntry.ts'

/** The parts of a transaction that its sender chooses. Amounts are in wei. */
export interface TransactionFields {
  /** 0 legacy, 1 access list, 2 dynamic fee, 3 blobs, 4 set code. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** Undefined where a legacy transaction holds for every chain (before EIP-155). */
  readonly chainId: bigint | undefined
  readonly nonce: number
  readonly to: Address | null
  readonly value: bigint
  readonly input: Hex
  readonly gas: number
  /** The most that a unit of gas may cost; `gasPrice` of the types 0 and 1. */
  readonly maxFee: bigint
  /** Of it, the most that goes to the miner. */
  readonly maxTip: bigint
  readonly accessList: AccessList
  readonly maxBlobFee: bigint
  readonly blobHashes: readonly Hash[]
  readonly authorizations: readonly Authorization[]
}

/** A signed transaction, decoded. */
export interface PooledTransaction extends TransactionFields {
  readonly hash: Hash
  /** As it stands in a block: without the blobs that came with it. */
  readonly raw: Uint8Array
  readonly from: Address
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
  readonly yParity: 0 | 1
  /** Logs that a test wanted, in place of what a contract would emit. */
  readonly emits?: readonly LogEntry[]
}
