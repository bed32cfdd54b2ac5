import { ChainReadError } from './chainNodes.ts'
import type { ChainNodes } from './chainNodes.ts'
import type { ChainRing } from './createChainRing.ts'
import { readChainBlock, readNumberedBlock } from './readChainBlock.ts'

/**
 * Creates the function that loads the blocks of a number of numbers below a ring, at least one. Concurrent calls share one load.
 * @returns False if the ring has no room for a block.
 * @throws {ChainReadError} If no block could be added for another reason.
 */
export const createBlockLoader = (ring: ChainRing, nodes: ChainNodes): ((count: number) => Promise<boolean>) => {
  let loading: Promise<boolean> | undefined
  const load = async (count: number): Promise<boolean> => {
    const oldest = ring.oldest()
    if (oldest === undefined) return true
    const numbers = Array.from({ length: Math.min(count, oldest.number) }, (_, index) => oldest.number - 1 - index)
    if (numbers.length === 0) return true
    const read = await Promise.all(numbers.map((number) => readNumberedBlock(nodes.followed(), number)))
    const blocks = read.filter((block) => block !== undefined)
    if (blocks.length === 0) blocks.push(await readChainBlock(nodes.followed(), oldest.parentHash))
    // If the chain or the followed node changes, the blocks can belong to another branch: those that do not fit are not added.
    let added = 0
    for (const block of blocks) {
      const result = ring.append(block)
      if (result === 'noRoom') return added > 0
      if (result === 'notParent') break
      added += 1
    }
    if (added === 0) throw new ChainReadError(`block ${oldest.number} has another parent now`)
    return true
  }
  return (count) =>
    (loading ??= load(count).finally(() => {
      loading = undefined
    }))
}
