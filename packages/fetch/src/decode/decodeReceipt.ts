import { decodeOptional } from './decodeOptional.ts'
import { decodeLenient } from './decodeLenient.ts'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeLog } from './decodeLog.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import { decodeTransactionType } from './decodeTransactionType.ts'
import { malformed } from './malformed.ts'
import type { TransactionReceipt } from './transactionReceipt.ts'

const decodeStatus = (value: unknown, path: string): 'success' | 'reverted' => {
  const status = decodeNumber(value, path)
  if (status > 1) throw malformed(path, '0 or 1')
  return status === 1 ? 'success' : 'reverted'
}

/**
 * Decodes a receipt.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message. @default 'receipt'
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const receipts = (await client.eth_getBlockReceipts('latest'))?.map((receipt) => decodeReceipt(receipt))
 * @see execution-apis, schema `ReceiptInfo`
 */
export function decodeReceipt(value: unknown, path = 'receipt'): TransactionReceipt {
  const receipt = decodeObject<keyof TransactionReceipt>(value, path)
  return {
    ...receipt,
    ...decodeTransactionType(receipt.type, `${path}.type`),
    status: decodeOptional(receipt.status, `${path}.status`, decodeStatus),
    root: decodeLenient(receipt.root, `${path}.root`, decodeHex),
    transactionHash: decodeHex(receipt.transactionHash, `${path}.transactionHash`, 32),
    transactionIndex: decodeNumber(receipt.transactionIndex, `${path}.transactionIndex`),
    blockHash: decodeHex(receipt.blockHash, `${path}.blockHash`, 32),
    blockNumber: decodeQuantity(receipt.blockNumber, `${path}.blockNumber`),
    from: decodeHex(receipt.from, `${path}.from`, 20),
    to: decodeOptional(receipt.to, `${path}.to`, decodeHex, 20) ?? null,
    contractAddress: decodeOptional(receipt.contractAddress, `${path}.contractAddress`, decodeHex, 20) ?? null,
    gasUsed: decodeQuantity(receipt.gasUsed, `${path}.gasUsed`),
    cumulativeGasUsed: decodeQuantity(receipt.cumulativeGasUsed, `${path}.cumulativeGasUsed`),
    effectiveGasPrice: decodeOptional(receipt.effectiveGasPrice, `${path}.effectiveGasPrice`, decodeQuantity),
    blobGasUsed: decodeOptional(receipt.blobGasUsed, `${path}.blobGasUsed`, decodeQuantity),
    blobGasPrice: decodeOptional(receipt.blobGasPrice, `${path}.blobGasPrice`, decodeQuantity),
    logs: decodeList(receipt.logs, `${path}.logs`, decodeLog),
    logsBloom: decodeLenient(receipt.logsBloom, `${path}.logsBloom`, decodeHex, 256),
  }
}
