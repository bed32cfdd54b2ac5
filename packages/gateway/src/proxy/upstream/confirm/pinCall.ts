import type { CallScope } from '../callScope.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { getNamedBlock } from '../heads/getNamedBlock.ts'
import { readHead } from '../heads/trackHead.ts'
import { queryUpstream } from '../queryUpstream.ts'
import { findTags, replaceTags } from './findTags.ts'
import type { Tag } from './findTags.ts'

/** A call at a block that all its nodes read alike. */
export interface PinnedCall {
  readonly call: ForwardedCall
  /** The number of the block in place of each tag. */
  readonly blocks: ReadonlyMap<Tag, number>
}

const maxQueryMs = 2_000

/** Gets the block that a node must have to vote: the one that the call names by its number, or the newest that its caller has seen. */
export const getMinHead = (call: ForwardedCall, { group, seenHead }: CallScope): number | undefined => {
  const named = getNamedBlock(call.method, call.params)
  const number =
    typeof named === 'object' ? Math.min(named.number, Math.max(group.highestHead(), seenHead ?? 0)) : undefined
  const seen = findTags(call).some(({ tag }) => tag === 'latest') ? seenHead : undefined
  return number === undefined || seen === undefined ? (number ?? seen) : Math.max(number, seen)
}

/**
 * Replaces the tags of a call by the lowest such block of the nodes, but none before what the key's callers have seen.
 * @returns The call as it is if it names no block by a tag, if no node knows such a block, or if it starts after it.
 */
export const pinCall = async (
  call: ForwardedCall,
  members: readonly GroupMember[],
  { group, keyId, timeoutMs }: CallScope,
): Promise<PinnedCall> => {
  const places = findTags(call)
  const blocks = new Map<Tag, number>()
  for (const tag of new Set(places.map((place) => place.tag))) {
    const found = await Promise.all(members.map((member) => readTag(tag, member, Math.min(timeoutMs / 4, maxQueryMs))))
    const known = found.filter((number) => number !== undefined)
    if (known.length === 0) return { call, blocks: new Map() }
    const seen = tag === 'latest' ? undefined : group.finalViews[tag].getHead(keyId)
    blocks.set(tag, Math.max(Math.min(...known), seen ?? 0))
  }
  const named = getNamedBlock(call.method, call.params)
  if (blocks.size === 0 || (typeof named === 'object' && named.number > Math.min(...blocks.values())))
    return { call, blocks: new Map() }
  return { call: replaceTags(call, places, blocks), blocks }
}

const readTag = async (tag: Tag, member: GroupMember, timeoutMs: number): Promise<number | undefined> => {
  if (tag === 'latest') return member.head()
  const query = { method: 'eth_getBlockByNumber', params: `["${tag}",false]` }
  const result = await queryUpstream(member.upstream, query, timeoutMs)
  return typeof result === 'string' ? undefined : readHead(query, result)
}

/** Remembers the blocks of a result as ones that the key's callers have seen. */
export const recordBlocks = ({ blocks }: PinnedCall, { group, keyId }: CallScope): void => {
  for (const [tag, block] of blocks) (tag === 'latest' ? group.views : group.finalViews[tag]).recordHead(keyId, block)
}
