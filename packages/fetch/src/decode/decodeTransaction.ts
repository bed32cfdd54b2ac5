import { decodeAccessList } from './decodeAccessList.ts'
import { decodeAuthorization } from './decodeAuthorization.ts'
import { decodeOptional } from './decodeOptional.ts'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import { decodeTransactionType } from './decodeTransactionType.ts'
import type {
  Eip4844Transaction,
  Eip7702Transaction,
  FeeMarketFields,
  LegacyTransaction,
  Transaction,
  TransactionCommon,
  TypedSignature,
} from './transaction.ts'
import type { TransactionType } from './transactionType.ts'

type Field = keyof LegacyTransaction | keyof Eip4844Transaction | keyof Eip7702Transaction

/**
 * Decodes a transaction of any type.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message. @default 'transaction'
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const wire = await client.eth_getTransactionByBlockNumberAndIndex('latest', '0x0')
 * const transaction = wire && decodeTransaction(wire)
 * @see execution-apis, schema `TransactionInfo`
 */
export function decodeTransaction(value: unknown, path = 'transaction'): Transaction {
  const wire = decodeObject<Field>(value, path)
  const quantity = (name: Field): bigint => decodeQuantity(wire[name], `${path}.${name}`)
  const common: TransactionCommon<TransactionType> = {
    ...wire,
    ...decodeTransactionType(wire.type, `${path}.type`),
    hash: decodeHex(wire.hash, `${path}.hash`, 32),
    from: decodeHex(wire.from, `${path}.from`, 20),
    to: decodeOptional(wire.to, `${path}.to`, decodeHex, 20) ?? null,
    nonce: decodeNumber(wire.nonce, `${path}.nonce`),
    gas: quantity('gas'),
    value: quantity('value'),
    input: decodeHex(wire.input, `${path}.input`),
    blockHash: decodeOptional(wire.blockHash, `${path}.blockHash`, decodeHex, 32) ?? null,
    blockNumber: decodeOptional(wire.blockNumber, `${path}.blockNumber`, decodeQuantity) ?? null,
    transactionIndex: decodeOptional(wire.transactionIndex, `${path}.transactionIndex`, decodeNumber) ?? null,
    blockTimestamp: decodeOptional(wire.blockTimestamp, `${path}.blockTimestamp`, decodeQuantity),
  }
  const chainId = (): number => decodeNumber(wire.chainId, `${path}.chainId`)
  // Some chains leave out a list that is empty.
  const accessList = () => decodeAccessList(wire.accessList ?? [], `${path}.accessList`)
  const signature = (): TypedSignature => ({
    // Nodes older than 2023 send the parity only as v.
    yParity: decodeNumber(wire.yParity ?? wire.v, `${path}.yParity`),
    v: decodeOptional(wire.v, `${path}.v`, decodeQuantity),
    r: quantity('r'),
    s: quantity('s'),
  })
  const feeMarket = (): FeeMarketFields => ({
    chainId: chainId(),
    gasPrice: decodeOptional(wire.gasPrice, `${path}.gasPrice`, decodeQuantity),
    maxFeePerGas: quantity('maxFeePerGas'),
    maxPriorityFeePerGas: quantity('maxPriorityFeePerGas'),
    accessList: accessList(),
    ...signature(),
  })
  switch (common.type) {
    case 'legacy':
      return {
        ...common,
        type: 'legacy',
        chainId: decodeOptional(wire.chainId, `${path}.chainId`, decodeNumber),
        gasPrice: quantity('gasPrice'),
        v: quantity('v'),
        yParity: decodeOptional(wire.yParity, `${path}.yParity`, decodeNumber),
        r: quantity('r'),
        s: quantity('s'),
      }
    case 'eip2930':
      return {
        ...common,
        type: 'eip2930',
        chainId: chainId(),
        gasPrice: quantity('gasPrice'),
        accessList: accessList(),
        ...signature(),
      }
    case 'eip1559':
      return { ...common, type: 'eip1559', ...feeMarket() }
    case 'eip4844':
      return {
        ...common,
        type: 'eip4844',
        ...feeMarket(),
        maxFeePerBlobGas: quantity('maxFeePerBlobGas'),
        blobVersionedHashes: decodeList(wire.blobVersionedHashes, `${path}.blobVersionedHashes`, (hash, at) =>
          decodeHex(hash, at, 32),
        ),
      }
    case 'eip7702':
      return {
        ...common,
        type: 'eip7702',
        ...feeMarket(),
        authorizationList: decodeList(wire.authorizationList, `${path}.authorizationList`, decodeAuthorization),
      }
    case 'other':
      return { ...common, type: 'other' }
  }
}
