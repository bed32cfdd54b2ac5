import { decodeOptional } from './decodeOptional.ts'
import { decodeNumber } from './decodeNumber.ts'
import type { TransactionType } from './transactionType.ts'

const types = ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'] as const

/**
 * Reads the type of a transaction or receipt. Nodes of before EIP-2718 send none: then it is a legacy one.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for a failure's message.
 * @throws {KeyrailError} kind `badResponse` where it is no hex quantity.
 */
export function decodeTransactionType<Wanted extends TransactionType = TransactionType>(
  value: unknown,
  what: string,
): { readonly type: Wanted; readonly typeNumber: number } {
  const typeNumber = decodeOptional(value, what, decodeNumber) ?? 0
  return { type: (types[typeNumber] ?? 'other') as Wanted, typeNumber }
}
