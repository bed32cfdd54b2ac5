import type { Hash, RpcPendingTransaction, RpcTransaction } from '@keyrail/core'
import { quantity } from '../bytes/hex.ts'
import { effectiveGasPrice } from './fees.ts'
import type { Header } from './header.ts'
import type { PooledTransaction, TransactionFields } from './transaction.ts'

/** What the sender of a transaction chose, as nodes give it. */
export function wireFields(tx: TransactionFields): Record<string, unknown> {
  const { type } = tx
  return {
    type: quantity(type),
    nonce: quantity(tx.nonce),
    to: tx.to,
    value: quantity(tx.value),
    input: tx.input,
    gas: quantity(tx.gas),
    ...(type < 2
      ? { gasPrice: quantity(tx.maxFee) }
      : { maxFeePerGas: quantity(tx.maxFee), maxPriorityFeePerGas: quantity(tx.maxTip) }),
    ...(type > 0 && { accessList: tx.accessList }),
    ...(type === 3 && { maxFeePerBlobGas: quantity(tx.maxBlobFee), blobVersionedHashes: tx.blobHashes }),
    ...(type === 4 && { authorizationList: tx.authorizations }),
    ...(tx.chainId !== undefined && { chainId: quantity(tx.chainId) }),
  }
}

/** Where a transaction stands. */
export interface TransactionPlace {
  readonly block: { readonly hash: Hash; readonly number: number; readonly header: Header }
  readonly index: number
}

/**
 * A transaction as nodes give it.
 *
 * @param place - The block it stands in; null while it waits.
 */
export function wireTransaction(
  tx: PooledTransaction,
  place: TransactionPlace | null,
): RpcTransaction | RpcPendingTransaction {
  const fields = {
    ...wireFields(tx),
    hash: tx.hash,
    from: tx.from,
    gasPrice: quantity(tx.type < 2 || place === null ? tx.maxFee : effectiveGasPrice(tx, place.block.header.baseFee)),
    ...(tx.type > 0 && { yParity: quantity(tx.yParity) }),
    v: quantity(tx.v),
    r: quantity(tx.r),
    s: quantity(tx.s),
    blockHash: place && place.block.hash,
    blockNumber: place && quantity(place.block.number),
    transactionIndex: place && quantity(place.index),
    ...(place && { blockTimestamp: quantity(place.block.header.timestamp) }),
  }
  return fields as unknown as RpcTransaction | RpcPendingTransaction
}
