import type { UpstreamGroup } from '../createUpstreamGroup.ts'
import type { Pin } from '../findPinnedBlock.ts'

interface HeadOptions {
  readonly group: Pick<UpstreamGroup, 'several' | 'highestHead'>
  /** The newest block that the caller has seen, if there are several nodes. */
  readonly seenHead?: number | undefined
}

/**
 * Gets the block that the node of a read should have. For a read at the newest block, that is the one that the caller has seen, so that its head
 * does not go back. For a read of a block by its number, it is that block, because some nodes respond for a block that they do not have yet as if
 * it were empty. If no node has it, it is the newest block that any has.
 * @param pin - What the read's params pin its response to.
 * @returns `undefined` if any node will do.
 */
export const getNeededHead = (pin: Pin | undefined, { group, seenHead }: HeadOptions): number | undefined => {
  if (pin === undefined) return seenHead
  if (typeof pin !== 'number' || !group.several) return undefined
  return Math.min(pin, Math.max(group.highestHead(), seenHead ?? 0))
}

/** Gets the block that the node of a batch of reads should have: the newest that any of them needs. */
export const getBatchNeededHead = (pins: readonly (Pin | undefined)[], options: HeadOptions): number | undefined => {
  let needed: number | undefined
  for (const pin of pins) {
    const head = getNeededHead(pin, options)
    if (head !== undefined && head > (needed ?? -1)) needed = head
  }
  return needed
}
