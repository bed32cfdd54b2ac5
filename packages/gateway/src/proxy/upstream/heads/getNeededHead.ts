import type { UpstreamGroup } from '../createUpstreamGroup.ts'
import type { Pin } from '../findPinnedBlock.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { getNamedBlock } from './getNamedBlock.ts'
import { showsHead } from './trackHead.ts'

type NamingCall = Pick<ForwardedCall, 'method' | 'params'>

interface HeadOptions {
  readonly group: Pick<UpstreamGroup, 'several' | 'highestHead' | 'supportedHead'>
  /** The newest block that the caller has seen, if there are several nodes. */
  readonly seenHead?: number | undefined
}

/**
 * Gets the block that the node of a read should have. For a read at the newest block, that is the one that the caller has seen, so that its head
 * does not go back. For a read of the newest block itself, it is also the newest one that a node has and another one supports. For a read that names blocks by number, it is the highest of them, because some nodes respond for a block that they do not have
 * yet as if it were empty. If no node has it, it is the newest block that any has.
 * @param pin - What the read's params pin its response to, if that was found already.
 * @returns `undefined` if any node will do.
 */
export const getNeededHead = (
  { method, params }: NamingCall,
  pin: Pin | undefined,
  { group, seenHead }: HeadOptions,
): number | undefined => {
  if (!group.several || pin === 'hash' || pin === 'transaction') return undefined
  const named = typeof pin === 'number' ? { number: pin, hasTag: false } : getNamedBlock(method, params)
  if (named === undefined) {
    const supported = showsHead({ method, params }) ? group.supportedHead() : 0
    return supported > (seenHead ?? 0) ? supported : seenHead
  }
  if (named === 'hash') return undefined
  const needed = Math.min(named.number, Math.max(group.highestHead(), seenHead ?? 0))
  return named.hasTag ? Math.max(needed, seenHead ?? 0) : needed
}

/** Gets the block that the node of a batch of reads should have: the newest that any of them needs. */
export const getBatchNeededHead = (
  reads: readonly { readonly call: NamingCall; readonly read: { readonly pin: Pin | undefined } | undefined }[],
  options: HeadOptions,
): number | undefined => {
  let needed: number | undefined
  for (const { call, read } of reads) {
    const head = getNeededHead(call, read?.pin, options)
    if (head !== undefined && head > (needed ?? -1)) needed = head
  }
  return needed
}
