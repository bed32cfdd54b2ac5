import type { Hash, Quantity } from './hex.ts'

/** A block by name. The beacon chain determines `safe` and `finalized`. Source: execution-apis, `BlockTag`. */
export type BlockTag = 'earliest' | 'finalized' | 'safe' | 'latest' | 'pending'

/** The tags of blocks that are in the chain: `pending` is not. Source: execution-apis, `BlockTagForRange`. */
export type MinedBlockTag = 'earliest' | 'finalized' | 'safe' | 'latest'

/** A block by number or tag. */
export type BlockNumberOrTag = Quantity | BlockTag

/** A block of the chain by number or tag. */
export type MinedBlockNumberOrTag = Quantity | MinedBlockTag

/** A block by hash. `requireCanonical` rejects one that is no longer canonical. Source: EIP-1898. */
export interface BlockByHash {
  blockHash: Hash
  requireCanonical?: boolean | undefined
  blockNumber?: undefined
}

/** A block by number, in object form. Source: EIP-1898. */
export interface BlockByNumber {
  blockNumber: Quantity
  blockHash?: undefined
}

/** A block whose state is requested: number, tag, hash, or an EIP-1898 object. Source: execution-apis, `BlockNumberOrTagOrHash`. */
export type BlockIdentifier = BlockNumberOrTag | Hash | BlockByHash | BlockByNumber
