import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import { refusals } from '../refusal/refusals.ts'
import { refusalText } from '../refusal/refusalText.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { ByteBudget } from '../upstream/createUpstream.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { forwardCall } from '../upstream/forwardCall.ts'
import type { CallEnd } from '../upstream/forwardCall.ts'

/** What one call needs to be run. */
export interface CallContext {
  readonly group: UpstreamGroup
  readonly policy: MethodPolicy
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly budget: ByteBudget
}

/** Stops a call, where it may be stopped. */
export type Cancel = () => void

const nothing: Cancel = () => {}

/**
 * Runs one call: refused by what was read of it, else forwarded.
 * @param done - Called once; not after a cancel. A call that changes something is not cancelled: it may have been done already.
 */
export const runCall = (item: RpcCall | NoRequest, context: CallContext, done: (end: CallEnd) => void): Cancel => {
  if (!item.valid) {
    done(refusals.invalidRequest())
    return nothing
  }
  const traits = context.policy(item.method)
  const refusal =
    traits === undefined
      ? refusals.methodUnavailable(item.method)
      : item.paramsFit
        ? undefined
        : refusals.paramsInvalid()
  if (traits === undefined || refusal !== undefined) {
    done(refusal ?? refusals.methodUnavailable(item.method))
    return nothing
  }
  const call = { method: item.method, params: item.params, idempotent: traits.idempotent }
  const cancel = forwardCall(call, context, done)
  return traits.idempotent ? cancel : nothing
}

/** The response object of one call. */
export const responseParts = (end: CallEnd, id: string, requestId: string): readonly (string | Buffer)[] =>
  'value' in end ? [`{"jsonrpc":"2.0","id":${id},"${end.member}":`, end.value, '}'] : [refusalText(end, id, requestId)]

/** Whether a call's end is ours, not a node's. */
export const isRefusal = (end: CallEnd): end is Refusal => !('value' in end)
