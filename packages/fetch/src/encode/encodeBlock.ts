import type { BlockTag, Hex } from '@keyrail/core'
import type { MinedBlockTag } from '@keyrail/core/schema'
import type { BlockInput, MinedBlockInput } from './blockInput.ts'
import { encodeQuantity } from './encodeQuantity.ts'
import { invalidOption } from './invalidOption.ts'

/**
 * Encodes a block number, tag or hash for the wire.
 *
 * @param block - A number, a tag or a hash. @default 'latest'
 * @param name - The option's name, for the error message. @default 'block'
 * @throws {KeyrailError} kind `invalidRequest`. The message says how to fix it.
 * @example
 * encodeBlock(16n) // '0x10'
 * encodeBlock('safe') // 'safe'
 * @see execution-apis, schema `BlockNumberOrTagOrHash`
 */
export function encodeBlock(block?: MinedBlockInput, name?: string): MinedBlockTag | Hex
export function encodeBlock(block?: BlockInput, name?: string): BlockTag | Hex
export function encodeBlock(block: BlockInput = 'latest', name = 'block'): BlockTag | Hex {
  if (typeof block !== 'string') return encodeQuantity(block, name)
  if (/^(latest|safe|finalized|earliest|pending|0x(0|[1-9a-fA-F][\da-fA-F]{0,62}|[\da-fA-F]{64}))$/.test(block))
    return block
  throw invalidOption(`${name} must be a number, a hash, or one of latest, safe, finalized, earliest and pending`)
}
