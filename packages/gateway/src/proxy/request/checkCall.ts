import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import { findCustomTracer, acceptsTracer } from '../../auth/allowList/findCustomTracer.ts'
import { hasAmbiguousName } from '../../auth/allowList/hasAmbiguousName.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { methods } from '../../lib/methods.ts'
import type { OfferedMethod } from '../../lib/methods.ts'
import { suggestName } from '../../lib/suggestName.ts'
import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { CheckedCall } from '../upstream/callResult.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'

/** The rules that the calls of a request are checked against. */
export interface CallRules {
  /** The allow list of the app. */
  readonly allow: AllowList | undefined
  /** The allow list of the request's token, which can only narrow. */
  readonly tokenAllowList: AllowList | undefined
  /** Whether the app sends its transactions privately. */
  readonly sendsPrivately: boolean
  /** Whether callers may send tracers written in JavaScript. */
  readonly javascriptTracers: boolean
  /** Whether the rejection of an unknown method names a similar one. Only that of a single call does, because a batch can have thousands. */
  readonly suggests: boolean
}

/** The methods that every service offers. */
const alwaysOffered = [...methods].flatMap(([name, { service }]) => (service === 'always' ? [name] : []))

/** Shared, because a short batch can have a thousand. */
const invalidCall = rejections.invalidRequest()

/**
 * Checks one call.
 * @param traits - Those of its method; `undefined` if the method is not offered.
 * @returns The call to forward, or the first rejection.
 */
export const checkCall = (
  call: ParsedCall | InvalidCall,
  traits: MethodTraits | undefined,
  { allow, tokenAllowList, sendsPrivately, javascriptTracers, suggests }: CallRules,
): CheckedCall => {
  if (!call.valid) return call.problem === undefined ? invalidCall : rejections.invalidRequest(call.problem)
  if (traits === undefined) {
    const nearest = suggests ? suggestName(call.method, alwaysOffered) : undefined
    return rejections.methodNotFound(call.method, nearest)
  }
  if (!call.paramsFit) return rejections.invalidParams()
  const rejection =
    allow?.rejectCall(call, traits.row) ??
    tokenAllowList?.rejectCall(call, traits.row) ??
    (javascriptTracers ? undefined : rejectCustomTracer(traits.row, call.params))
  const isPrivate = traits.transaction === 'private' || (sendsPrivately && traits.transaction === 'raw')
  return rejection ?? { method: call.method, params: call.params, traits, isPrivate }
}

/** The caller chooses the tracer's text, so a long one is cut. */
const shorten = (tracer: string): string => JSON.stringify(tracer.length > 40 ? `${tracer.slice(0, 40)}…` : tracer)

/** @param params - The source text, from a body that JSON.parse accepts. */
const rejectCustomTracer = (row: OfferedMethod | undefined, params: string | undefined): Rejection | undefined => {
  if (params === undefined || !acceptsTracer(row)) return undefined
  if (hasAmbiguousName(params)) return rejections.tracerNotAllowed('repeated or escaped member names')
  const tracer = findCustomTracer(JSON.parse(params))
  return tracer === undefined ? undefined : rejections.tracerNotAllowed(`tracer ${shorten(tracer)}`)
}
