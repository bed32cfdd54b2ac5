import { refusals } from '../../errors/rejections.ts'
import type { Refusal } from '../../errors/rejection.ts'
import { parseAddress, readAddressRule } from './addressRule.ts'
import { checkAllowListEntries } from './allowListEntries.ts'
import type { AllowListEntries, AllowListEntry } from './allowListEntries.ts'
import { callAddresses, holdsAddresses } from './callAddresses.ts'
import { describeUnknownMember } from './findShapeProblem.ts'
import { hasAmbiguousName } from './hasAmbiguousName.ts'
import { matchesIp, readIpRule } from '../../lib/ip/ipRange.ts'
import { readMethodRule } from './methodRule.ts'
import { matchesOrigin, parseOrigin, readOriginRule } from './originRule.ts'
import { parseIp } from '../../lib/ip/parseIp.ts'
import type { Reading } from '../../lib/parsedRule.ts'
import { mayTakeTracer } from './findCustomTracer.ts'
import { readUserAgentRule } from './userAgentRule.ts'

/** What is known of a request before its body is read. */
export interface AllowListRequest {
  /** The caller's IP, as a socket tells it. */
  readonly ip: string | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** The `User-Agent` header. */
  readonly userAgent: string | undefined
}

/** An allow list, ready to be asked. Asking changes nothing, so one serves all requests of an app's version. */
export interface AllowList {
  /** Why a request may not go on, or `undefined`. */
  refuseRequest(request: AllowListRequest): Refusal | undefined
  /** Why a call may not go on, or `undefined`. Each item of a batch is asked for alone. */
  refuseCall(call: AllowListCall): Refusal | undefined
}

/** A call as it was read. */
export interface AllowListCall {
  readonly method: string
  /** The source text of params, of a body that JSON.parse takes; `undefined` where there are none. */
  readonly params: string | undefined
  /** The first member of the request that JSON-RPC does not have. @default none */
  readonly unknownMember?: string | undefined
}

type RequestCheck = (request: AllowListRequest) => Refusal | undefined
type CallCheck = (call: AllowListCall) => Refusal | undefined

/**
 * Compiles an allow list: once for each version of an app.
 * Types are all to be met, of a type's entries one is enough. A caller without an Origin, a user agent or a readable IP does not meet
 * a list of them. Origins and user agents are what a browser says of itself: any other program can say the same.
 * @throws {TypeError} where an entry is wrong. The message names it and the mend, and repeats no value.
 * @example
 * const list = compileAllowList({ ips: [{ value: '203.0.113.0/24', label: 'office' }] })
 * list.refuseRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason // 'ip_not_allowed'
 */
export const compileAllowList = (entries: AllowListEntries): AllowList => {
  const [problem] = checkAllowListEntries(entries)
  if (problem !== undefined)
    throw new TypeError(`${problem.field === '' ? 'the allow list' : problem.field} ${problem.mend}`)
  const requestChecks = [ipCheck(entries.ips), originCheck(entries.origins), userAgentCheck(entries.userAgents)]
  const callChecks = [methodCheck(entries.methods), addressCheck(entries.addresses)]
  const ofRequest = requestChecks.filter((check) => check !== undefined)
  const ofCall = callChecks.filter((check) => check !== undefined)
  return {
    refuseRequest: (request) => firstOf(ofRequest, request),
    refuseCall: (call) => firstOf(ofCall, call),
  }
}

const firstOf = <Subject>(
  checks: readonly ((subject: Subject) => Refusal | undefined)[],
  subject: Subject,
): Refusal | undefined => {
  for (const check of checks) {
    const refusal = check(subject)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** The rules of a type, or `undefined` where it restricts nothing. */
const rulesOf = <Rule>(
  entries: readonly AllowListEntry[] | undefined,
  read: (text: string) => Reading<Rule>,
): readonly Rule[] | undefined => {
  if (entries === undefined || entries.length === 0) return undefined
  return entries.flatMap(({ value }) => {
    const reading = read(value)
    return 'rule' in reading ? [reading.rule] : []
  })
}

const ipCheck = (entries: AllowListEntries['ips']): RequestCheck | undefined => {
  const rules = rulesOf(entries, readIpRule)
  if (rules === undefined) return undefined
  return ({ ip }) => {
    const bytes = ip === undefined ? undefined : parseIp(ip)
    return bytes !== undefined && rules.some((rule) => matchesIp(rule, bytes)) ? undefined : refusals.ipNotAllowed()
  }
}

const originCheck = (entries: AllowListEntries['origins']): RequestCheck | undefined => {
  const rules = rulesOf(entries, readOriginRule)
  if (rules === undefined) return undefined
  return ({ origin }) => {
    const parsed = origin === undefined ? undefined : parseOrigin(origin)
    return parsed !== undefined && rules.some((rule) => matchesOrigin(rule, parsed))
      ? undefined
      : refusals.originNotAllowed()
  }
}

const userAgentCheck = (entries: AllowListEntries['userAgents']): RequestCheck | undefined => {
  const rules = rulesOf(entries, readUserAgentRule)
  if (rules === undefined) return undefined
  return ({ userAgent }) => {
    const lower = userAgent?.toLowerCase()
    return lower !== undefined && rules.some((part) => lower.includes(part))
      ? undefined
      : refusals.userAgentNotAllowed()
  }
}

const methodCheck = (entries: AllowListEntries['methods']): CallCheck | undefined => {
  const rules = rulesOf(entries, readMethodRule)
  if (rules === undefined) return undefined
  const names = new Set(rules.filter((rule) => !rule.group).map((rule) => rule.name))
  const groups = rules.filter((rule) => rule.group).map((rule) => rule.name)
  return ({ method }) =>
    names.has(method) || groups.some((group) => method.startsWith(group))
      ? undefined
      : refusals.methodNotAllowed(method)
}

const addressCheck = (entries: AllowListEntries['addresses']): CallCheck | undefined => {
  const rules = rulesOf(entries, readAddressRule)
  if (rules === undefined) return undefined
  const listed = new Set(rules)
  return ({ method, params, unknownMember }) => {
    if (unknownMember !== undefined)
      return refusals.notAllowedWithAddresses(describeUnknownMember(unknownMember, [], 'the request'))
    if (!holdsAddresses(method) && !mayTakeTracer(method)) return undefined
    if (params !== undefined && hasAmbiguousName(params))
      return refusals.notAllowedWithAddresses('repeated or escaped member names')
    const reach = callAddresses(method, params === undefined ? undefined : JSON.parse(params))
    if (reach === undefined) return undefined
    if ('forbidden' in reach) return refusals.notAllowedWithAddresses(reach.forbidden)
    for (const value of reach.addresses) {
      const address = parseAddress(value)
      if (address === undefined) return refusals.notAllowedWithAddresses('value that is no address')
      if (!listed.has(address)) return refusals.addressNotAllowed(address)
    }
    return undefined
  }
}
