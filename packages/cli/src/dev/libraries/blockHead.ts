import type { BlockHead } from '../../node/callNode.ts'

/**
 * Brings what a library says of a block to the form of the wire, in which first calls are compared.
 *
 * @param block - The block; libraries say its number as a number, a bigint or a hex string.
 * @throws {Error} where it has no number or no hash: a block that is not mined yet.
 */
export function blockHead(
  block:
    | {
        readonly number?: number | bigint | string | null | undefined
        readonly hash?: string | null | undefined
      }
    | null
    | undefined,
): BlockHead {
  if (block?.number == null || block.hash == null) throw new Error('the latest block has no number or no hash')
  return { number: `0x${BigInt(block.number).toString(16)}`, hash: block.hash }
}
