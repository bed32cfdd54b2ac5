import type { AllowList } from '../allow/compileAllowList.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusals } from '../refusal/refusals.ts'
import type { NoRequest, RpcCall } from '../request/rpcCall.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'

/** What a call is held against. */
export interface CallRules {
  /** Of its method; `undefined` where the method is not offered. */
  readonly traits: MethodTraits | undefined
  /** The app's own list. */
  readonly allow: AllowList | undefined
  /** The list of the request's token, which can only narrow. */
  readonly narrowing: AllowList | undefined
}

/** Whether a call may be forwarded, by what was read of it: the call, or why not. */
export const checkCall = (
  item: RpcCall | NoRequest,
  { traits, allow, narrowing }: CallRules,
): ForwardedCall | Refusal => {
  if (!item.valid) return refusals.invalidRequest(item.problem)
  if (traits === undefined) return refusals.methodNotFound(item.method)
  if (!item.paramsFit) return refusals.invalidParams()
  const refusal = allow?.refuseCall(item) ?? narrowing?.refuseCall(item)
  return refusal ?? { method: item.method, params: item.params, traits }
}
