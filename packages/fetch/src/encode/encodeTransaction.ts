import type { Hex, TransactionRequest } from '@keyrail/core'
import { encodeHex } from './encodeHex.ts'
import { encodeQuantity } from './encodeQuantity.ts'
import type { TransactionInput } from './transactionInput.ts'

/** What may be given of a transaction. */
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
 * Writes a transaction that is to be run, not sent: what `call` and `estimateGas` take.
 *
 * @param transaction - What is given of it.
 * @throws {KeyrailError} kind `invalidRequest`, naming the field and the mend.
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
    // Its name in the specification is `input`, but a few nodes know this older one only, and every node knows it.
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
