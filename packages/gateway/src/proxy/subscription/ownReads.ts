import { createBufferedBytes, dropAllBytes, getBufferShare } from '../../lib/memoryBudget.ts'
import type { CallResult } from '../upstream/callResult.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { forwardCall } from '../upstream/forward.ts'
import type { ForwardedCall } from '../upstream/forwardedCall.ts'
import type { GroupMember } from '../upstream/groupMember.ts'

/** The calls of all subscriptions of a network wait in a queue of their own, beside those of keys. */
const holder = { keyId: 'subscriptions', ownerId: 'subscriptions' }

/** The gateway's own memory is that of one more owner: callers leave room for it, but less the more of them buffer as much as they may. */
export const getOwnShare = () => getBufferShare(holder.ownerId)

/** The bounds of the gateway's own reads. They are read for each read, because a reload changes them. */
export interface ReadBounds {
  /** In milliseconds. */
  readonly timeoutMs: number
  /** How large the response may be. */
  readonly maxResponseBytes: number
  /** How many bytes the process may buffer. */
  readonly maxBufferedBytes: number
}

/** The options of one of the gateway's own reads. */
export interface OwnReadOptions extends ReadBounds {
  readonly group: UpstreamGroup
  /** The only node that may get the call. @default any */
  readonly only?: GroupMember | undefined
}

/**
 * Sends a call of the gateway's own. Its response counts in the memory budget while it is read.
 * @param done - Called once.
 */
export const sendOwnRead = (
  call: ForwardedCall,
  { group, timeoutMs, maxResponseBytes, maxBufferedBytes, only }: OwnReadOptions,
  done: (result: CallResult) => void,
): void => {
  const buffered = createBufferedBytes('chain', { most: maxBufferedBytes }, getOwnShare())
  const budget = { left: maxResponseBytes, buffered }
  const scope = { group, ...holder, timeoutMs, budget, maxResponseBytes, streams: false }
  forwardCall(call, scope, { only }, (result) => {
    done(result)
    dropAllBytes(buffered)
  })
}
