import type { Address, Quantity } from './hex.ts'
import type { RpcPendingTransaction } from './transaction.ts'

/** How many transactions wait. Source: execution-apis, `TxpoolStatus`. */
export interface TxpoolStatus {
  /** Could go into the next block. */
  pending: Quantity
  /** Wait for a nonce before them. */
  queued: Quantity
}

/** Transactions of one account by nonce, a decimal number. Source: execution-apis, `TxpoolContentByAddress`. */
export interface TxpoolByNonce {
  [nonce: string]: RpcPendingTransaction
}

/** Transactions by account, then by nonce. Source: execution-apis, `TxpoolContentAddressMap`. */
export interface TxpoolByAddress {
  [address: Address]: TxpoolByNonce
}

/** All transactions that wait. Source: execution-apis, `TxpoolContent`. */
export interface TxpoolContent {
  pending: TxpoolByAddress
  queued: TxpoolByAddress
}

/** The transactions of one account that wait. Source: execution-apis, `TxpoolContentFromResult`. */
export interface TxpoolContentFrom {
  pending: TxpoolByNonce
  queued: TxpoolByNonce
}

/** One line of text for each transaction of an account, by nonce. Source: geth, txpool_inspect. */
export interface TxpoolSummaryByNonce {
  [nonce: string]: string
}

/** One line of text for each transaction, by account and nonce. Source: geth, txpool_inspect. */
export interface TxpoolSummaryByAddress {
  [address: Address]: TxpoolSummaryByNonce
}

/** All transactions that wait, as lines of text. Source: geth, txpool_inspect. */
export interface TxpoolInspection {
  pending: TxpoolSummaryByAddress
  queued: TxpoolSummaryByAddress
}

/** The transaction pool. */
export interface TxpoolMethods {
  /** How many transactions wait. Source: execution-apis, txpool. */
  txpool_status(): Promise<TxpoolStatus>
  /** All transactions that wait. Source: execution-apis, txpool. */
  txpool_content(): Promise<TxpoolContent>
  /** The transactions of one account that wait. Source: execution-apis, txpool. */
  txpool_contentFrom(address: Address): Promise<TxpoolContentFrom>
  /** All transactions that wait, as lines for people to read. Source: geth, txpool namespace. */
  txpool_inspect(): Promise<TxpoolInspection>
}
