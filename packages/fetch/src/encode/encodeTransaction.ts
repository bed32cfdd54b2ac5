import type { Hex, TransactionRequest } from '@keyrail/core'
import { encodeHex } from './encodeHex.ts'
import { encodeQuantity } from './encodeQuantity.ts'
import type { TransactionInput } from './transactionInput.ts'

/** The names of a transaction's fields. */
export const transactionNames: readonly (keyof TransactionInput)[] = [
  'from',
  'to',
  'data',
  'value',
  'gas',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'maxFeePerBlobGas',
  'nonce',
  'accessList',
  'blobVersionedHashes',
  'authorizationList',
]

/**
 * Encodes an unsigned transaction, as `call` and `estimateGas` take it.
 *
 * @param transaction - Any fields of the transaction.
 * @throws {KeyrailError} kind `invalidRequest`. The message names the field and how to fix it.
 * @example
 * await client.eth_createAccessList(encodeTransaction({ to: account, data: '0x18160ddd', value: 10n ** 18n }))
 * @see execution-apis, schema `GenericTransaction`
 */
export function encodeTransaction(transaction: TransactionInput): TransactionRequest {
  const quantity = (name: keyof TransactionInput): Hex | undefined => {
    const value = transaction[name] as bigint | number | undefined
    return value === undefined ? undefined : encodeQuantity(value, name)
  }
  const { from, to, data, accessList, authorizationList, blobVersionedHashes } = transaction
  return {
    from: from === undefined ? undefined : encodeHex(from, 'from', 20),
    to: to === undefined || to === null ? undefined : encodeHex(to, 'to', 20),
    // The specification calls this field `input`. Every node accepts the older name `data`, and a few accept nothing else.
    data: data === undefined ? undefined : encodeHex(data, 'data'),
    value: quantity('value'),
    gas: quantity('gas'),
    gasPrice: quantity('gasPrice'),
    maxFeePerGas: quantity('maxFeePerGas'),
    maxPriorityFeePerGas: quantity('maxPriorityFeePerGas'),
    maxFeePerBlobGas: quantity('maxFeePerBlobGas'),
    nonce: quantity('nonce'),
    accessList,
    blobVersionedHashes,
    authorizationList: authorizationList?.map(({ chainId, address, nonce, yParity, r, s }) => ({
      chainId: encodeQuantity(chainId, 'authorizationList chainId'),
      address: encodeHex(address, 'authorizationList address', 20),
      nonce: encodeQuantity(nonce, 'authorizationList nonce'),
      yParity: encodeQuantity(yParity, 'authorizationList yParity'),
      r: encodeQuantity(r, 'authorizationList r'),
      s: encodeQuantity(s, 'authorizationList s'),
    })),
  }
}
