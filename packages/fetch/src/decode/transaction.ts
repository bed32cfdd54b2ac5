import type { Hex } from '@keyrail/core'
import type { AccessListEntry } from '@keyrail/core/schema'
import type { TransactionType } from './transactionType.ts'

/**
 * Lets an account run the code of another address as its own. EIP-7702.
 * A transaction may contain invalid authorizations, so their chain ID and nonce are not limited as those of a transaction are.
 */
export interface Authorization {
  /** 0 means every chain. */
  readonly chainId: bigint
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}

/** The fields of every transaction type. */
export interface TransactionCommon<Type extends TransactionType> {
  readonly type: Type
  /** The type as a number. EIP-2718. */
  readonly typeNumber: number
  readonly hash: Hex
  readonly from: Hex
  /** Null if it creates a contract. */
  readonly to: Hex | null
  readonly nonce: number
  /** The most gas it may use. */
  readonly gas: bigint
  /** In wei. */
  readonly value: bigint
  readonly input: Hex
  /** Null while it is pending. */
  readonly blockHash: Hex | null
  /** Null while it is pending. */
  readonly blockNumber: bigint | null
  /** Null while it is pending. */
  readonly transactionIndex: number | null
  /** In seconds since 1970. Not every node sends it. */
  readonly blockTimestamp: bigint | undefined
}

/** The signature of a typed transaction. */
export interface TypedSignature {
  readonly yParity: number
  /** The same value as `yParity`, which most nodes also send for older clients. */
  readonly v: bigint | undefined
  readonly r: bigint
  readonly s: bigint
}

/** A legacy transaction, the type from before EIP-2718. */
export interface LegacyTransaction extends TransactionCommon<'legacy'> {
  /** Missing if the signature is not bound to a chain (EIP-155). Not every node sends it. */
  readonly chainId: number | undefined
  /** In wei per unit of gas. */
  readonly gasPrice: bigint
  /** Includes the chain id if the signature is bound to a chain. EIP-155. */
  readonly v: bigint
  /** Not every node sends it for a legacy transaction. */
  readonly yParity: number | undefined
  readonly r: bigint
  readonly s: bigint
}

/** A transaction with an access list. EIP-2930. */
export interface Eip2930Transaction extends TransactionCommon<'eip2930'>, TypedSignature {
  readonly chainId: number
  /** In wei per unit of gas. */
  readonly gasPrice: bigint
  /** Empty if the node sends none. */
  readonly accessList: readonly AccessListEntry[]
}

/** The fields of transactions with EIP-1559 fees. */
export interface FeeMarketFields extends TypedSignature {
  readonly chainId: number
  /** The price paid, in wei per unit of gas. For a pending transaction it is the node's estimate, if it sends one. */
  readonly gasPrice: bigint | undefined
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Empty if the node sends none. */
  readonly accessList: readonly AccessListEntry[]
}

/** A transaction with a maximum fee and a tip. EIP-1559. */
export interface Eip1559Transaction extends TransactionCommon<'eip1559'>, FeeMarketFields {}

/** A transaction with blobs. EIP-4844. */
export interface Eip4844Transaction extends TransactionCommon<'eip4844'>, FeeMarketFields {
  readonly maxFeePerBlobGas: bigint
  readonly blobVersionedHashes: readonly Hex[]
}

/** A transaction that sets the code of accounts. EIP-7702. */
export interface Eip7702Transaction extends TransactionCommon<'eip7702'>, FeeMarketFields {
  readonly authorizationList: readonly Authorization[]
}

/** A transaction of a type that this package does not know. Members that are not declared here are as the node sent them. */
export interface OtherTransaction extends TransactionCommon<'other'> {
  readonly [member: string]: unknown
}

/** A transaction, decoded: branch on `type`. Members that its type does not declare are as the node sent them. */
export type Transaction =
  | LegacyTransaction
  | Eip2930Transaction
  | Eip1559Transaction
  | Eip4844Transaction
  | Eip7702Transaction
  | OtherTransaction
