import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusals } from '../refusal/refusals.ts'
import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'

/** Whether a call may be forwarded, by what was read of it: the call, or why not. */
export const checkCall = (item: RpcCall | NoRequest, policy: MethodPolicy): ForwardedCall | Refusal => {
  if (!item.valid) return refusals.invalidRequest()
  const traits = policy(item.method)
  if (traits === undefined) return refusals.methodNotFound(item.method)
  if (!item.paramsFit) return refusals.invalidParams()
  return { method: item.method, params: item.params, traits }
}
