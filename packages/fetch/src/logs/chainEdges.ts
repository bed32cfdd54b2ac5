import type { Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import { decodeObject } from '../decode/decodeObject.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import type { ReadClient } from '../read/readClient.ts'
import { missingBlock } from './resolveRange.ts'
import { createReorgError } from './reorgError.ts'

/** Number and hash of a block that what was given stands on. */
export type ChainEdge = readonly [number: number, hash: Hex]

/** The blocks near the head that what was given stands on. */
export interface ChainEdges {
  /** The hash that a block's number has now. */
  readonly hashOf: (number: number) => Promise<Hex>
  /**
   * Checks that the newest edge is still in the chain, and with it all the others.
   * @throws {ReorgError} naming the first block that may have changed.
   */
  readonly verify: () => Promise<void>
  /** Makes sure that there is an edge at this block or above it. */
  readonly reach: (number: number) => Promise<void>
  readonly add: (number: number, hash: Hex) => void
  /** The edges below a block. */
  readonly below: (number: number) => ChainEdge[]
}

/** More windows than this near the head lose only the exact place of a reorganization far below. */
const mostEdges = 64

/**
 * Remembers the edges of the windows near the head and finds out whether they still stand. A block's hash fixes all blocks below it, so
 * one look at the newest edge is enough while all is well; only after a reorganization are older ones looked at, to find its place.
 *
 * @param client - A client.
 * @param given - Edges of an earlier iteration.
 */
export function createChainEdges(client: ReadClient<'eth_getBlockByNumber'>, given: readonly ChainEdge[]): ChainEdges {
  const edges: ChainEdge[] = [...given]
  const hashOf = async (number: number): Promise<Hex> => {
    const found = await client.eth_getBlockByNumber(encodeQuantity(number, 'number'), false)
    if (found === null) throw missingBlock(number)
    return decodeHex(decodeObject<'hash'>(found, 'block').hash, 'block.hash', 32)
  }
  const stands = async ([number, hash]: ChainEdge): Promise<boolean> => (await hashOf(number)) === hash
  return {
    hashOf,
    verify: async () => {
      const newest = edges.at(-1)
      if (!newest || (await stands(newest))) return
      let standing = edges.length - 2
      while (standing >= 0 && !(await stands(edges[standing] as ChainEdge))) standing--
      // The oldest edge lies just below the first block that could be lost: if even that was replaced, nothing older was given or is in doubt.
      const [oldest] = edges[Math.max(standing, 0)] as ChainEdge
      throw createReorgError({ nextBlock: oldest + 1, nextLogIndex: 0, edges: edges.slice(0, standing + 1) })
    },
    reach: async (number) => {
      if ((edges.at(-1)?.[0] ?? -1) < number) edges.push([number, await hashOf(number)])
    },
    add: (number, hash) => {
      edges.push([number, hash])
      if (edges.length > mostEdges) edges.shift()
    },
    below: (number) => edges.filter(([at]) => at < number),
  }
}
