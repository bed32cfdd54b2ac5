import { isWeightedMethod } from '../method/weights.ts'
import { toPickOptions } from './forwardedCall.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { GroupMember } from './groupMember.ts'
import { parseQuantity } from './queryUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'
import { replayMethods } from './replayMethods.ts'

/** How long a `null` waits to be confirmed, in milliseconds. The caller gets it then. */
export const maxConfirmMs = 2_000

/** Methods with which a node responds `null` for a block, transaction or receipt that it does not have, although another node may. */
const nullMethods: ReadonlySet<string> = new Set([
  'debug_getRawTransaction',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getHeaderByHash',
  'eth_getRawTransactionByBlockHashAndIndex',
  'eth_getRawTransactionByHash',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionBySenderAndNonce',
  'eth_getTransactionReceipt',
  'eth_getTransactionReceiptsByBlock',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleCountByBlockHash',
])

/** The same for methods whose first param is a block's number or tag. */
const numberMethods: ReadonlySet<string> = new Set([
  'eth_getBlockAccessList',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByNumber',
  'eth_getHeaderByNumber',
  'eth_getRawTransactionByBlockNumberAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockNumber',
])

/**
 * Methods with which a node that has everything may respond `null`: what a tracer returns, a fee of a chain that has none, an account that does not
 * exist, an empty list of some nodes, and writes, which must not be sent to another node.
 */
const otherNullMethods: ReadonlySet<string> = new Set([
  'debug_getBadBlocks',
  'debug_getRawBlockAccessList',
  'debug_traceCall',
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_getAccount',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'eth_subscribe',
  'eth_unsubscribe',
])

/**
 * Gets what a `null` means. `unconfirmed`: another node should confirm it. `impossible`: the method never returns it, so the node lacks something.
 * `valid`: it is the result.
 * @see https://github.com/ethereum/execution-apis
 */
export const getNullMeaning = (method: string): 'unconfirmed' | 'impossible' | 'valid' => {
  if (nullMethods.has(method) || numberMethods.has(method) || replayMethods.has(method)) return 'unconfirmed'
  return isWeightedMethod(method) && !otherNullMethods.has(method) ? 'impossible' : 'valid'
}

/** Checks whether a result is `null`. */
export const isNull = (value: Buffer | string): boolean => value.length === 4 && value.toString('latin1') === 'null'

/**
 * Chooses the upstream that a `null` is confirmed by; `undefined` if there is none, or if one with its head has confirmed it already.
 * @param member - The upstream that responded with `null`.
 */
export const pickForNull = (
  group: UpstreamGroup,
  call: ForwardedCall,
  { member, tried, ownerId }: { member: GroupMember; tried: readonly GroupMember[]; ownerId: string },
): GroupMember | undefined => {
  const other = group.pick(toPickOptions(call, { tried, ownerId, minHead: getMinHead(call, member.head()) }))
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
  if (!numberMethods.has(method)) return head
  const number = parseQuantity(/^\[\s*("0x[0-9a-fA-F]{1,13}")/.exec(params)?.[1] ?? '')
  if (number === undefined) return head
  return head === undefined ? number : Math.min(number, head)
}
