import type { Hash, RpcTransaction } from '@keyrail/core'
import type { RpcPendingTransaction } from '@keyrail/core/schema'
import { toQuantity } from '../bytes/hex.ts'
import { effectiveGasPrice } from './fees.ts'
import type { Header } from './header.ts'
import type { PooledTransaction, TransactionFields } from './transaction.ts'

/** Formats the sender's fields of a transaction as JSON-RPC does. */
export function wireFields(tx: TransactionFields): Record<string, unknown> {
  const { type } = tx
  return {
    type: toQuantity(type),
    nonce: toQuantity(tx.nonce),
    to: tx.to,
    value: toQuantity(tx.value),
    input: tx.input,
    gas: toQuantity(tx.gas),
    ...(type < 2
      ? { gasPrice: toQuantity(tx.maxFee) }
      : { maxFeePerGas: toQuantity(tx.maxFee), maxPriorityFeePerGas: toQuantity(tx.maxTip) }),
    ...(type > 0 && { accessList: tx.accessList }),
    ...(type === 3 && { maxFeePerBlobGas: toQuantity(tx.maxBlobFee), blobVersionedHashes: tx.blobHashes }),
    ...(type === 4 && { authorizationList: tx.authorizations }),
    ...(tx.chainId !== undefined && { chainId: toQuantity(tx.chainId) }),
  }
}

/** The position of a transaction. */
export interface TransactionPlace {
  readonly block: { readonly hash: Hash; readonly number: number; readonly header: Header }
  readonly index: number
}

/**
 * Formats a transaction as JSON-RPC does.
 *
 * @param place - Its block; null if it is pending.
 */
export function wireTransaction(
  tx: PooledTransaction,
  place: TransactionPlace | null,
): RpcTransaction | RpcPendingTransaction {
  const fields = {
    ...wireFields(tx),
    hash: tx.hash,
    from: tx.from,
    gasPrice: toQuantity(tx.type < 2 || place === null ? tx.maxFee : effectiveGasPrice(tx, place.block.header.baseFee)),
    ...(tx.type > 0 && { yParity: toQuantity(tx.yParity) }),
    v: toQuantity(tx.v),
    r: toQuantity(tx.r),
    s: toQuantity(tx.s),
    blockHash: place && place.block.hash,
    blockNumber: place && toQuantity(place.block.number),
    transactionIndex: place && toQuantity(place.index),
    ...(place && { blockTimestamp: toQuantity(place.block.header.timestamp) }),
  }
  return fields as unknown as RpcTransaction | RpcPendingTransaction
}
