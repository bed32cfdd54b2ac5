import { getMember } from '../../../lib/json/scanMembers.ts'
import type { CallScope } from '../callScope.ts'
import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { methods } from '../../../lib/methods.ts'
import { toHex, parseQuantity } from '../../../lib/rpc/quantity.ts'

/** Whether the result of a call shows the head of the chain. */
export const showsHead = ({ method, params = '' }: Pick<ForwardedCall, 'method' | 'params'>): boolean => {
  const head = methods.get(method)?.head
  return head === 'number' || (head === 'block' && latest.test(params))
}

const latest = /^\s*\[\s*"latest"/

/** A larger block is not searched for its number. */
const maxBlockBytes = 256 * 1024

/** Reads the number of a block from a result. */
export const readHead = (call: Pick<ForwardedCall, 'method'>, result: CallResult): number | undefined => {
  if (!('value' in result) || result.member === 'error' || result.value.length > maxBlockBytes) return undefined
  const text = result.value.toString('latin1')
  if (call.method === 'eth_blockNumber') return parseQuantity(text)
  return parseQuantity(getMember(text, 'number'))
}

/**
 * Records the head that a result shows, as one that the caller has seen and that the node has.
 * @param call - A call that shows the head.
 * @param member - The node that sent the result, if it is known.
 * @returns The result for the caller. A result of `eth_blockNumber` below what the caller has seen is replaced by that, and one that is not credible by
 * the newest block that is, if the caller has seen one.
 */
export const trackHead = (
  call: ForwardedCall,
  { result, member }: { result: CallResult; member: GroupMember | undefined },
  { group, keyId, claimedHead = 0 }: CallScope,
): CallResult => {
  const head = readHead(call, result)
  if (head === undefined) return result
  // Another node would contradict it, and the caller's head must not go back then.
  if (!(member?.sawHead(head) ?? group.isCredibleHead(head))) {
    const known = group.several ? group.views.getHead(keyId) : undefined
    return call.method === 'eth_blockNumber' && known !== undefined
      ? toBlockNumber(Math.max(known, group.highestHead()))
      : result
  }
  const seen = group.views.recordHead(keyId, head)
  if (seen === undefined) return result
  // A caller can claim anything: only a block that this node will have soon counts.
  const least = claimedHead - head <= group.maxLagBlocks ? Math.max(seen, claimedHead) : seen
  return call.method === 'eth_blockNumber' && least > head ? toBlockNumber(least) : result
}

const toBlockNumber = (block: number): CallResult => ({ member: 'result', value: `"${toHex(block)}"` })
