import { KeyrailError } from '@keyrail/core'
import { decodeNumber } from '../decode/decodeNumber.ts'
import { decodeObject } from '../decode/decodeObject.ts'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import type { ReadClient } from '../read/readClient.ts'

/**
 * Checks one end of a range before anything is sent.
 *
 * @throws {KeyrailError} kind `invalidRequest` unless it is a number up to 2^53-1 or the tag of a mined block.
 */
export function checkRangeEnd(block: MinedBlockNumberInput, name: string): void {
  const wire: string = encodeBlock(block, name)
  // A number must be exact. Of the strings, only the tags of mined blocks are valid.
  const right = typeof block === 'string' ? !/^0x|pending/.test(wire) : Number.isSafeInteger(Number(block))
  if (!right) throw invalidOption(`${name} must be a block number, or one of latest, safe, finalized and earliest`)
}

/**
 * Returns the number of a block that is given by number or tag.
 *
 * @param client - A client.
 * @param block - The number or tag.
 * @param head - The number of the latest block.
 * @throws {KeyrailError} kind `lagging` if the node has no such block yet.
 */
export async function resolveBlock(
  client: ReadClient<'eth_getBlockByNumber'>,
  block: MinedBlockNumberInput,
  head: number,
): Promise<number> {
  if (typeof block !== 'string') return Number(block)
  if (block === 'latest') return head
  const found = await client.eth_getBlockByNumber(block, false)
  if (found === null) throw missingBlock(block)
  return decodeNumber(decodeObject<'number'>(found, 'block').number, 'block.number')
}

/** Creates the error for a block that the node does not have, or no longer has. */
export function missingBlock(block: number | string): KeyrailError {
  return new KeyrailError(`the node has no block ${block} now`, {
    kind: 'lagging',
    source: 'node',
    retryable: true,
    method: 'eth_getBlockByNumber',
    hint: 'retry: the node may be behind, or the block was replaced',
  })
}
