import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { RpcReceipt } from './receipt.ts'
import type { DynamicFeeFields, TransactionFields } from './transaction.ts'
import type { AccessList } from './accessList.ts'
import type { AuthorizationList } from './authorization.ts'
import type { TransactionRequest } from './transactionRequest.ts'

/** Fields that nodes may add to the transaction: a signature, possibly empty, and a position in the chain, which is not known yet. */
export interface FilledExtras {
  hash?: Hash
  from?: Address
  v?: Quantity
  r?: Quantity
  s?: Quantity
  yParity?: Quantity
  blockHash?: null
  blockNumber?: null
  transactionIndex?: null
  blockTimestamp?: null
}

/** A legacy transaction, filled in. Source: execution-apis, `FilledTransaction`; geth for what is `null`. */
export interface FilledLegacyTransaction extends TransactionFields, FilledExtras {
  type: '0x0'
  to: Address | null
  gasPrice: Quantity
  chainId?: Quantity
  maxPriorityFeePerGas?: null
  maxFeePerGas?: null
}

/** A transaction with an access list, filled in. Source: execution-apis, `FilledTransaction`; geth for what is `null`. */
export interface FilledAccessListTransaction extends TransactionFields, FilledExtras {
  type: '0x1'
  to: Address | null
  gasPrice: Quantity
  accessList: AccessList
  chainId: Quantity
  maxPriorityFeePerGas?: null
  maxFeePerGas?: null
}

/** A dynamic fee transaction, filled in. Source: execution-apis, `FilledTransaction`; geth for what is `null`. */
export interface FilledDynamicFeeTransaction extends DynamicFeeFields, FilledExtras {
  type: '0x2'
  to: Address | null
  gasPrice?: Quantity | null
}

/** A blob transaction, filled in, with or without its blobs. Source: execution-apis, `FilledTransaction`; geth for what is `null`. */
export interface FilledBlobTransaction extends DynamicFeeFields, FilledExtras {
  type: '0x3'
  to: Address
  gasPrice?: Quantity | null
  maxFeePerBlobGas: Quantity
  blobVersionedHashes: Hash[]
  blobs?: Bytes[]
  commitments?: Bytes[]
  proofs?: Bytes[]
}

/** A transaction that sets account code, filled in. Source: execution-apis, `FilledTransaction`; geth for what is `null`. */
export interface FilledSetCodeTransaction extends DynamicFeeFields, FilledExtras {
  type: '0x4'
  to: Address
  gasPrice?: Quantity | null
  authorizationList: AuthorizationList
}

/** A transaction with nothing missing but its signature. Source: execution-apis, `FilledTransaction`. */
export type FilledTransaction =
  | FilledLegacyTransaction
  | FilledAccessListTransaction
  | FilledDynamicFeeTransaction
  | FilledBlobTransaction
  | FilledSetCodeTransaction

/** A transaction with nothing missing but its signature. Source: execution-apis, `FillTransactionResult`. */
export interface FillTransactionResult {
  tx: FilledTransaction
  /** The same, encoded. geth and anvil send it. */
  raw?: Bytes
}

/** The numbers of a signature. */
export interface SignatureFields {
  r: Quantity
  s: Quantity
}

/** A signed transaction, encoded and in parts. Source: execution-apis, `SignTransactionResult`. */
export interface SignTransactionResult {
  raw: Bytes
  tx: FilledTransaction & SignatureFields
}

/** Sending transactions, and signing with keys that the node holds. */
export interface SubmitMethods {
  /** Sends a signed transaction. Returns its hash. Source: execution-apis, eth/submit. */
  eth_sendRawTransaction(transaction: Bytes): Promise<Hash>
  /** Sends a signed transaction and waits for its receipt, at most `timeoutMs` milliseconds. Source: EIP-7966. */
  eth_sendRawTransactionSync(transaction: Bytes, timeoutMs?: number): Promise<RpcReceipt>
  /** Signs a transaction with a key of the node and sends it. Returns its hash. Source: execution-apis, eth/submit. */
  eth_sendTransaction(transaction: TransactionRequest): Promise<Hash>
  /** Fills in what a transaction lacks: nonce, gas, fees, chain id. Source: execution-apis, eth/submit; geth. */
  eth_fillTransaction(transaction: TransactionRequest): Promise<FillTransactionResult>
  /** Signs a message with a key of the node, by EIP-191. Source: execution-apis, eth/sign. */
  eth_sign(address: Address, message: Bytes): Promise<Bytes>
  /** Signs a transaction with a key of the node. anvil and reth send the encoded transaction alone. Source: execution-apis, eth/sign. */
  eth_signTransaction(transaction: TransactionRequest): Promise<SignTransactionResult>
  /** Signs typed data with a key of the node; the data is JSON text. Source: EIP-712; reth and anvil. */
  eth_signTypedData_v4(address: Address, typedData: string): Promise<Bytes>
}
