import { decodeOptional } from './decodeOptional.ts'
import { decodeNumber } from './decodeNumber.ts'
import type { TransactionType } from './transactionType.ts'

const types = ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'] as const

/**
 * Decodes the type of a transaction or receipt. Nodes older than EIP-2718 send none: the type is then legacy.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse` if it is not a hex quantity.
 */
export function decodeTransactionType<Wanted extends TransactionType = TransactionType>(
  value: unknown,
  path: string,
): { readonly type: Wanted; readonly typeNumber: number } {
  const typeNumber = decodeOptional(value, path, decodeNumber) ?? 0
  return { type: (types[typeNumber] ?? 'other') as Wanted, typeNumber }
}
