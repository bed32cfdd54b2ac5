import type { AccessList } from './accessList.ts'
import type { AuthorizationList } from './authorization.ts'
import type { BlockNumberOrTag } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** The fields of every transaction. */
export interface TransactionFields {
  nonce: Quantity
  gas: Quantity
  value: Quantity
  input: Bytes
}

/** The fields of a transaction with fees by EIP-1559. */
export interface DynamicFeeFields extends TransactionFields {
  maxPriorityFeePerGas: Quantity
  maxFeePerGas: Quantity
  accessList: AccessList
  chainId: Quantity
}

/** A legacy transaction without its signature. Source: execution-apis, `TransactionLegacyUnsigned`. */
export interface UnsignedLegacyTransaction extends TransactionFields {
  type: '0x0'
  /** `null` if the transaction creates a contract. */
  to: Address | null
  gasPrice: Quantity
  chainId?: Quantity
}

/** A transaction with an access list, without its signature. Source: execution-apis, `Transaction2930Unsigned`; EIP-2930. */
export interface UnsignedAccessListTransaction extends TransactionFields {
  type: '0x1'
  /** `null` if the transaction creates a contract. */
  to: Address | null
  gasPrice: Quantity
  accessList: AccessList
  chainId: Quantity
}

/** A dynamic fee transaction without its signature. Source: execution-apis, `Transaction1559Unsigned`; EIP-1559. */
export interface UnsignedDynamicFeeTransaction extends DynamicFeeFields {
  type: '0x2'
  /** `null` if the transaction creates a contract. */
  to: Address | null
  /** The price of one unit of gas; the maximum until the transaction is in a block. */
  gasPrice: Quantity
}

/** A blob transaction without its signature. Source: execution-apis, `Transaction4844Unsigned`; EIP-4844. */
export interface UnsignedBlobTransaction extends DynamicFeeFields {
  type: '0x3'
  to: Address
  gasPrice?: Quantity
  maxFeePerBlobGas: Quantity
  blobVersionedHashes: Hash[]
}

/** A transaction that sets account code, without its signature. Source: execution-apis, `Transaction7702Unsigned`; EIP-7702. */
export interface UnsignedSetCodeTransaction extends DynamicFeeFields {
  type: '0x4'
  to: Address
  gasPrice?: Quantity
  authorizationList: AuthorizationList
}

/** Any unsigned transaction; `type` distinguishes the kinds. Source: execution-apis, `TransactionUnsigned`. */
export type UnsignedTransaction =
  | UnsignedLegacyTransaction
  | UnsignedAccessListTransaction
  | UnsignedDynamicFeeTransaction
  | UnsignedBlobTransaction
  | UnsignedSetCodeTransaction

/** The signature of a legacy transaction: `v` holds the chain id too. Source: EIP-155. */
export interface LegacySignature {
  v: Quantity
  r: Quantity
  s: Quantity
  yParity?: Quantity
}

/** The signature of a typed transaction. */
export interface TypedSignature {
  yParity: Quantity
  /** The same as `yParity`, for old clients. */
  v?: Quantity
  r: Quantity
  s: Quantity
}

/** A signed legacy transaction. Source: execution-apis, `TransactionLegacySigned`. */
export interface SignedLegacyTransaction extends UnsignedLegacyTransaction, LegacySignature {}

/** A signed transaction with an access list. Source: execution-apis, `Transaction2930Signed`. */
export interface SignedAccessListTransaction extends UnsignedAccessListTransaction, TypedSignature {}

/** A signed dynamic fee transaction. Source: execution-apis, `Transaction1559Signed`. */
export interface SignedDynamicFeeTransaction extends UnsignedDynamicFeeTransaction, TypedSignature {}

/** A signed blob transaction. Source: execution-apis, `Transaction4844Signed`. */
export interface SignedBlobTransaction extends UnsignedBlobTransaction, TypedSignature {}

/** A signed transaction that sets account code. Source: execution-apis, `Transaction7702Signed`. */
export interface SignedSetCodeTransaction extends UnsignedSetCodeTransaction, TypedSignature {}

/** Any signed transaction; `type` distinguishes the kinds. Source: execution-apis, `TransactionSigned`. */
export type SignedTransaction =
  | SignedLegacyTransaction
  | SignedAccessListTransaction
  | SignedDynamicFeeTransaction
  | SignedBlobTransaction
  | SignedSetCodeTransaction

/** The position of a transaction in the chain. */
export interface TransactionLocation {
  from: Address
  hash: Hash
  blockHash: Hash
  blockNumber: Quantity
  transactionIndex: Quantity
  /** Older nodes do not send it. */
  blockTimestamp?: Quantity
}

/** The place of a transaction that waits: it has none yet. */
export interface PendingTransactionLocation {
  from: Address
  hash: Hash
  blockHash?: null
  blockNumber?: null
  transactionIndex?: null
  blockTimestamp?: null
}

/** A transaction in a block. Source: execution-apis, `TransactionInfo`. */
export type RpcTransaction = TransactionLocation & SignedTransaction

/** A transaction in the pool. Source: execution-apis, `PendingTransactionInfo`. */
export type RpcPendingTransaction = PendingTransactionLocation & SignedTransaction

/** Reads of transactions. */
export interface TransactionMethods {
  /** A transaction by its hash, in a block or still in the pool. Source: execution-apis, eth/transaction. */
  eth_getTransactionByHash(hash: Hash): Promise<RpcTransaction | RpcPendingTransaction | null>
  /** The transaction at a place in a block that is named by hash. Source: execution-apis, eth/transaction. */
  eth_getTransactionByBlockHashAndIndex(blockHash: Hash, index: Quantity): Promise<RpcTransaction | null>
  /** The transaction at a place in a block that is named by number or tag. Source: execution-apis, eth/transaction. */
  eth_getTransactionByBlockNumberAndIndex(block: BlockNumberOrTag, index: Quantity): Promise<RpcTransaction | null>
  /** The transaction that an account sent with a nonce. Source: reth and anvil, eth namespace. */
  eth_getTransactionBySenderAndNonce(
    sender: Address,
    nonce: Quantity,
  ): Promise<RpcTransaction | RpcPendingTransaction | null>
  /** A transaction as it was signed, EIP-2718 encoded. Source: geth and reth, eth namespace. */
  eth_getRawTransactionByHash(hash: Hash): Promise<Bytes | null>
  /** The encoded transaction at a place in a block that is named by hash. Source: geth and reth, eth namespace. */
  eth_getRawTransactionByBlockHashAndIndex(blockHash: Hash, index: Quantity): Promise<Bytes | null>
  /** The encoded transaction at a place in a block that is named by number or tag. Source: geth and reth, eth namespace. */
  eth_getRawTransactionByBlockNumberAndIndex(block: BlockNumberOrTag, index: Quantity): Promise<Bytes | null>
  /** The transactions in the pool that the node's own accounts sent. Source: geth and Nethermind, eth namespace. */
  eth_pendingTransactions(): Promise<RpcPendingTransaction[]>
}
