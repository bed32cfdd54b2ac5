import { hasAmbiguousName } from '../../auth/allowList/hasAmbiguousName.ts'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import { findCustomTracer, acceptsTracer } from '../../auth/allowList/findCustomTracer.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { NoRequest, RpcCall } from './rpcCall.ts'
import type { ForwardedCall } from '../upstream/forwardCall.ts'

/** What a call is held against. */
export interface CallRules {
  /** Of its method; `undefined` where the method is not offered. */
  readonly traits: MethodTraits | undefined
  /** The app's own list. */
  readonly allow: AllowList | undefined
  /** The list of the request's token, which can only narrow. */
  readonly narrowing: AllowList | undefined
  /** Whether callers may send tracers of their own. */
  readonly javascriptTracers: boolean
}

/** Whether a call may be forwarded, by what was read of it: the call, or why not. */
export const checkCall = (
  item: RpcCall | NoRequest,
  { traits, allow, narrowing, javascriptTracers }: CallRules,
): ForwardedCall | Rejection => {
  if (!item.valid) return rejections.invalidRequest(item.problem)
  if (traits === undefined) return rejections.methodNotFound(item.method)
  if (!item.paramsFit) return rejections.invalidParams()
  const rejection =
    allow?.rejectCall(item) ??
    narrowing?.rejectCall(item) ??
    (javascriptTracers ? undefined : rejectCustomTracer(item.method, item.params))
  return rejection ?? { method: item.method, params: item.params, traits }
}

/** A caller chooses the tracer's text, so a long one is cut. */
const shown = (tracer: string): string => JSON.stringify(tracer.length > 40 ? `${tracer.slice(0, 40)}…` : tracer)

/** @param params - The source text, of a body that JSON.parse takes. */
const rejectCustomTracer = (method: string, params: string | undefined): Rejection | undefined => {
  if (params === undefined || !acceptsTracer(method)) return undefined
  if (hasAmbiguousName(params)) return rejections.tracerNotAllowed('repeated or escaped member names')
  const tracer = findCustomTracer(JSON.parse(params))
  return tracer === undefined ? undefined : rejections.tracerNotAllowed(`tracer ${shown(tracer)}`)
}
