import type { BlockTag, Hex } from '@keyrail/core'
import type { MinedBlockTag } from '@keyrail/core/schema'

/** A mined block, by number or tag. */
export type MinedBlockNumberInput = bigint | number | MinedBlockTag

/** A mined block, by number, tag or hash. A number may also be a hex quantity. */
export type MinedBlockInput = MinedBlockNumberInput | Hex

/** A block, by number or tag. */
export type BlockNumberInput = bigint | number | BlockTag

/** A block, by number, tag or hash. A number may also be a hex quantity. */
export type BlockInput = BlockNumberInput | Hex
