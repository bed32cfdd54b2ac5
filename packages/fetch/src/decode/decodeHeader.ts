import type { BlockHeader } from './block.ts'
import { decodeBlock } from './decodeBlock.ts'
import { decodeObject } from './decodeObject.ts'

/**
 * Decodes the header of a block: a block without `transactions`, `size`, `uncles` and `withdrawals`, as a subscription reports it.
 *
 * @param value - The value that the node sent.
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const wire = await client.eth_getHeaderByNumber('latest')
 * const baseFee = wire && decodeHeader(wire).baseFeePerGas
 */
export function decodeHeader(value: unknown): BlockHeader {
  const whole = { ...decodeObject(value, 'block'), size: '0x0', transactions: [] }
  const { transactions: _, size: __, uncles: ___, withdrawals: ____, ...header } = decodeBlock(whole)
  return header
}
