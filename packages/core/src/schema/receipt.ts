import type { BlockIdentifier } from './blockTag.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { RpcLog } from './log.ts'

/** The receipt of a transaction. Source: execution-apis, `ReceiptInfo`. */
export interface RpcReceipt {
  transactionHash: Hash
  transactionIndex: Quantity
  blockHash: Hash
  blockNumber: Quantity
  from: Address
  /** `null` if the transaction created a contract. */
  to: Address | null
  /** The contract that the transaction created; `null` otherwise. */
  contractAddress: Address | null
  cumulativeGasUsed: Quantity
  gasUsed: Quantity
  effectiveGasPrice: Quantity
  logs: RpcLog[]
  logsBloom: Bytes
  type?: Quantity
  /** `0x1` success, `0x0` failure. Since Byzantium, EIP-658. */
  status?: Quantity
  /** The state root after the transaction. Before Byzantium only. */
  root?: Hash
  /** Blob transactions only, EIP-4844. */
  blobGasUsed?: Quantity
  /** Blob transactions only, EIP-4844. */
  blobGasPrice?: Quantity
}

/** Reads of receipts. */
export interface ReceiptMethods {
  /** The receipt of a transaction; `null` while it is not in a block. Source: execution-apis, eth/transaction. */
  eth_getTransactionReceipt(hash: Hash): Promise<RpcReceipt | null>
  /** The receipts of a whole block. Source: execution-apis, eth/block. */
  eth_getBlockReceipts(block: BlockIdentifier): Promise<RpcReceipt[] | null>
}
