import type { Hex } from '@keyrail/core'
import { toMissing } from '@keyrail/core/internal'
import { decodeHex } from '../decode/decodeHex.ts'
import { decodeObject } from '../decode/decodeObject.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import type { ReadClient } from '../read/readClient.ts'
import { createReorgError } from './reorgError.ts'
import { missingBlock } from './resolveRange.ts'

/** Number and hash of the last block of a window. */
export type ChainEdge = readonly [number: number, hash: Hex]

/** The last blocks of the windows near the head. */
export interface ChainEdges {
  /** Returns the hash that the last block up to this number has now. */
  readonly getHash: (number: number) => Promise<Hex>
  /**
   * Checks that the newest edge is still in the chain, and with it all the others.
   * @throws {ReorgError} with the first block that may have changed.
   */
  readonly verify: () => Promise<void>
  /** Adds an edge at this block unless there is one at it or above it. */
  readonly ensure: (number: number) => Promise<void>
  readonly add: (number: number, hash: Hex) => void
  /** Returns the edges below a block. */
  readonly below: (number: number) => ChainEdge[]
}

/** With more windows than this near the head, a reorganization far below is still found, but not its exact block. */
const mostEdges = 64
/** How many numbers in a row may have no block. */
const mostSkipped = 64

const decodeHash = (block: unknown, name: 'hash' | 'parentHash'): Hex =>
  decodeHex(decodeObject<typeof name>(block, 'block')[name], `block.${name}`, 32)

/**
 * Remembers the last blocks of the windows near the head and detects when one of them is replaced. A block's hash determines all blocks
 * below it, so checking the newest edge is enough; after a reorganization, older edges are checked to find where it starts.
 *
 * @param client - A client.
 * @param head - The number of the latest block.
 * @param initial - Edges of an earlier iteration.
 */
export function createChainEdges(
  client: ReadClient<'eth_getBlockByNumber'>,
  head: number,
  initial: readonly ChainEdge[],
): ChainEdges {
  const edges: ChainEdge[] = [...initial]
  const read = async (number: number): Promise<unknown> =>
    client.eth_getBlockByNumber(encodeQuantity(number, 'number'), false).catch(toMissing)
  const getHash = async (number: number): Promise<Hex> => {
    const block = await read(number)
    if (block !== null) return decodeHash(block, 'hash')
    // Filecoin skips numbers: then the last block below is the parent of the first block above. Otherwise, the node is behind.
    let above: unknown = null
    for (let next = number + 1; above === null && next <= Math.min(head, number + mostSkipped); next++)
      above = await read(next)
    let below: unknown = null
    for (let next = number - 1; above !== null && below === null && next >= Math.max(0, number - mostSkipped); next--)
      below = await read(next)
    const hash = below === null ? undefined : decodeHash(below, 'hash')
    if (hash === undefined || hash !== decodeHash(above, 'parentHash')) throw missingBlock(number)
    return hash
  }
  const isCurrent = async ([number, hash]: ChainEdge): Promise<boolean> => (await getHash(number)) === hash
  return {
    getHash,
    verify: async () => {
      const newest = edges.at(-1)
      if (!newest || (await isCurrent(newest))) return
      let current = edges.length - 2
      while (current >= 0 && !(await isCurrent(edges[current] as ChainEdge))) current--
      // The oldest edge is just below the first block near the head. If even that one was replaced, the logs above it are the only ones in doubt.
      const [oldest] = edges[Math.max(current, 0)] as ChainEdge
      throw createReorgError({ nextBlock: oldest + 1, nextLogIndex: 0, edges: edges.slice(0, current + 1) })
    },
    ensure: async (number) => {
      if ((edges.at(-1)?.[0] ?? -1) < number) edges.push([number, await getHash(number)])
    },
    add: (number, hash) => {
      edges.push([number, hash])
      if (edges.length > mostEdges) edges.shift()
    },
    below: (number) => edges.filter(([edge]) => edge < number),
  }
}
