import { methods } from '../../lib/methods.ts'
import { toPickOptions } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { parseQuantity } from '../../lib/rpc/quantity.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'

/** How long a `null` waits to be confirmed, in milliseconds. The caller gets it then. */
export const maxConfirmMs = 2_000

/**
 * Chooses the upstream that a `null` is confirmed by; `undefined` if there is none, or if one with its head has confirmed it already.
 * @param member - The upstream that responded with `null`.
 */
export const pickForNull = (
  group: UpstreamGroup,
  call: ForwardedCall,
  { member, tried, ownerId }: { member: GroupMember; tried: readonly GroupMember[]; ownerId: string },
): GroupMember | undefined => {
  const other = group.pick(toPickOptions([call], { tried, ownerId, minHead: getMinHead(call, member.head()) }))
  return other !== undefined && mayConfirmNull(group, call, { member, other }) ? other : undefined
}

/**
 * Whether a `null` should be confirmed by another upstream: one that is healthy, and whose head is at least as high, or that has the block of the
 * call; unless one with its head has confirmed it already.
 */
export const mayConfirmNull = (
  group: UpstreamGroup,
  call: ForwardedCall,
  { member, other }: { member: GroupMember; other: GroupMember },
): boolean => {
  const head = other.head() ?? 0
  const minHead = getMinHead(call, member.head()) ?? 0
  return (
    other.health.isHealthy() &&
    other.capabilities.offers(call.method) &&
    head >= minHead &&
    !group.confirmedNulls.has(toKey(call), head)
  )
}

/** Remembers that a second upstream responded with `null` too. */
export const rememberNull = (group: UpstreamGroup, call: ForwardedCall, member: GroupMember): void =>
  group.confirmedNulls.add(toKey(call), member.head() ?? 0)

const toKey = ({ method, params = '' }: ForwardedCall): string => method + params

/** A node has every block up to its head, so for a block below both heads any of them will do. */
const getMinHead = ({ method, params = '' }: ForwardedCall, head: number | undefined): number | undefined => {
  if (methods.get(method)?.block !== 0) return head
  const number = parseQuantity(/^\[\s*("0x[0-9a-fA-F]{1,13}")/.exec(params)?.[1])
  if (number === undefined) return head
  return head === undefined ? number : Math.min(number, head)
}
