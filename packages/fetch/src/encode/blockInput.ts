import type { BlockTag, Hex } from '@keyrail/core'
import type { MinedBlockTag } from '@keyrail/core/schema'

/** Which block of the chain, by number or tag. */
export type MinedBlockNumberInput = bigint | number | MinedBlockTag

/** Which block of the chain: by number, tag, or hash. A number may be a hex quantity too. */
export type MinedBlockInput = MinedBlockNumberInput | Hex

/** Which block, by number or tag. */
export type BlockNumberInput = bigint | number | BlockTag

/** Which block: by number, tag, or hash. A number may be a hex quantity too. */
export type BlockInput = BlockNumberInput | Hex
