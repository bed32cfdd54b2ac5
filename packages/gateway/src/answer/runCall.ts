import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { ByteBudget } from '../upstream/createUpstream.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import type { CallEnd } from '../upstream/forwardCall.ts'
import { checkCall } from './checkCall.ts'

/** What the calls of one request need to be run. */
export interface CallContext {
  readonly group: UpstreamGroup
  readonly policy: MethodPolicy
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly budget: ByteBudget
}

/** Stops what may be stopped. */
export type Cancel = () => void

const nothing: Cancel = () => {}

/**
 * Runs one call: refused by what was read of it, else forwarded.
 * @param done - Called once; not after a cancel. A call that changes something is not cancelled: it may have been done already.
 */
export const runCall = (item: RpcCall | NoRequest, context: CallContext, done: (end: CallEnd) => void): Cancel => {
  const checked = checkCall(item, context.policy)
  if ('reason' in checked) {
    done(checked)
    return nothing
  }
  const cancel = forwardCall(checked, context, done)
  return checked.traits.idempotent ? cancel : nothing
}
