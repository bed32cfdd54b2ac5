import { decodeOptional } from './decodeOptional.ts'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeLog } from './decodeLog.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import { decodeTransactionType } from './decodeTransactionType.ts'
import { malformed } from './malformed.ts'
import type { TransactionReceipt } from './transactionReceipt.ts'

const decodeStatus = (value: unknown, what: string): 'success' | 'reverted' => {
  const status = decodeNumber(value, what)
  if (status > 1) throw malformed(what, '0 or 1')
  return status === 1 ? 'success' : 'reverted'
}

/**
 * Decodes a receipt.
 *
 * @param value - What the node sent.
 * @param what - Its path in the response, for the error message. @default 'receipt'
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const receipts = (await client.eth_getBlockReceipts('latest'))?.map((receipt) => decodeReceipt(receipt))
 * @see execution-apis, schema `ReceiptInfo`
 */
export function decodeReceipt(value: unknown, what = 'receipt'): TransactionReceipt {
  const receipt = decodeObject<keyof TransactionReceipt>(value, what)
  return {
    ...receipt,
    ...decodeTransactionType(receipt.type, `${what}.type`),
    status: decodeOptional(receipt.status, `${what}.status`, decodeStatus),
    root: decodeOptional(receipt.root, `${what}.root`, decodeHex),
    transactionHash: decodeHex(receipt.transactionHash, `${what}.transactionHash`, 32),
    transactionIndex: decodeNumber(receipt.transactionIndex, `${what}.transactionIndex`),
    blockHash: decodeHex(receipt.blockHash, `${what}.blockHash`, 32),
    blockNumber: decodeQuantity(receipt.blockNumber, `${what}.blockNumber`),
    from: decodeHex(receipt.from, `${what}.from`, 20),
    to: decodeOptional(receipt.to, `${what}.to`, decodeHex, 20) ?? null,
    contractAddress: decodeOptional(receipt.contractAddress, `${what}.contractAddress`, decodeHex, 20) ?? null,
    gasUsed: decodeQuantity(receipt.gasUsed, `${what}.gasUsed`),
    cumulativeGasUsed: decodeQuantity(receipt.cumulativeGasUsed, `${what}.cumulativeGasUsed`),
    effectiveGasPrice: decodeQuantity(receipt.effectiveGasPrice, `${what}.effectiveGasPrice`),
    blobGasUsed: decodeOptional(receipt.blobGasUsed, `${what}.blobGasUsed`, decodeQuantity),
    blobGasPrice: decodeOptional(receipt.blobGasPrice, `${what}.blobGasPrice`, decodeQuantity),
    logs: decodeList(receipt.logs, `${what}.logs`, decodeLog),
    logsBloom: decodeHex(receipt.logsBloom, `${what}.logsBloom`, 256),
  }
}
