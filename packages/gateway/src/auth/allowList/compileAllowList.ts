import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { parseAddress, readAddressRule } from './addressRule.ts'
import { checkAllowListEntries } from './allowListEntries.ts'
import type { AllowListEntries, AllowListEntry } from './allowListEntries.ts'
import { callAddresses, holdsAddresses } from './callAddresses.ts'
import { describeUnknownMember } from './findShapeProblem.ts'
import { hasAmbiguousName } from './hasAmbiguousName.ts'
import { matchesIp, parseIpRange } from '../../lib/ip/ipRange.ts'
import { readMethodRule } from './methodRule.ts'
import { matchesOrigin, parseOrigin, readOriginRule } from './originRule.ts'
import { parseIp } from '../../lib/ip/parseIp.ts'
import type { ParsedRule } from '../../lib/parsedRule.ts'
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
  rejectRequest(request: AllowListRequest): Rejection | undefined
  /** Why a call may not go on, or `undefined`. Each item of a batch is asked for alone. */
  rejectCall(call: AllowListCall): Rejection | undefined
}

/** A call as it was read. */
export interface AllowListCall {
  readonly method: string
  /** The source text of params, of a body that JSON.parse takes; `undefined` where there are none. */
  readonly params: string | undefined
  /** The first member of the request that JSON-RPC does not have. @default none */
  readonly unknownName?: string | undefined
}

type RequestCheck = (request: AllowListRequest) => Rejection | undefined
type CallCheck = (call: AllowListCall) => Rejection | undefined

/**
 * Compiles an allow list: once for each version of an app.
 * Types are all to be met, of a type's entries one is enough. A caller without an Origin, a user agent or a readable IP does not meet
 * a list of them. Origins and user agents are what a browser says of itself: any other program can say the same.
 * @throws {TypeError} where an entry is wrong. The message names it and the fix, and repeats no value.
 * @example
 * const list = compileAllowList({ ips: [{ value: '203.0.113.0/24', label: 'office' }] })
 * list.rejectRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason // 'ip_not_allowed'
 */
export const compileAllowList = (entries: AllowListEntries): AllowList => {
  const [problem] = checkAllowListEntries(entries)
  if (problem !== undefined)
    throw new TypeError(`${problem.field === '' ? 'the allow list' : problem.field} ${problem.fix}`)
  const requestChecks = [ipCheck(entries.ips), originCheck(entries.origins), userAgentCheck(entries.userAgents)]
  const callChecks = [methodCheck(entries.methods), addressCheck(entries.addresses)]
  const ofRequest = requestChecks.filter((check) => check !== undefined)
  const ofCall = callChecks.filter((check) => check !== undefined)
  return {
    rejectRequest: (request) => firstOf(ofRequest, request),
    rejectCall: (call) => firstOf(ofCall, call),
  }
}

const firstOf = <Subject>(
  checks: readonly ((subject: Subject) => Rejection | undefined)[],
  subject: Subject,
): Rejection | undefined => {
  for (const check of checks) {
    const rejection = check(subject)
    if (rejection !== undefined) return rejection
  }
  return undefined
}

/** The rules of a type, or `undefined` where it restricts nothing. */
const rulesOf = <Rule>(
  entries: readonly AllowListEntry[] | undefined,
  read: (text: string) => ParsedRule<Rule>,
): readonly Rule[] | undefined => {
  if (entries === undefined || entries.length === 0) return undefined
  return entries.flatMap(({ value }) => {
    const reading = read(value)
    return 'rule' in reading ? [reading.rule] : []
  })
}

const ipCheck = (entries: AllowListEntries['ips']): RequestCheck | undefined => {
  const rules = rulesOf(entries, parseIpRange)
  if (rules === undefined) return undefined
  return ({ ip }) => {
    const bytes = ip === undefined ? undefined : parseIp(ip)
    return bytes !== undefined && rules.some((rule) => matchesIp(rule, bytes)) ? undefined : rejections.ipNotAllowed()
  }
}

const originCheck = (entries: AllowListEntries['origins']): RequestCheck | undefined => {
  const rules = rulesOf(entries, readOriginRule)
  if (rules === undefined) return undefined
  return ({ origin }) => {
    const parsed = origin === undefined ? undefined : parseOrigin(origin)
    return parsed !== undefined && rules.some((rule) => matchesOrigin(rule, parsed))
      ? undefined
      : rejections.originNotAllowed()
  }
}

const userAgentCheck = (entries: AllowListEntries['userAgents']): RequestCheck | undefined => {
  const rules = rulesOf(entries, readUserAgentRule)
  if (rules === undefined) return undefined
  return ({ userAgent }) => {
    const lower = userAgent?.toLowerCase()
    return lower !== undefined && rules.some((part) => lower.includes(part))
      ? undefined
      : rejections.userAgentNotAllowed()
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
      : rejections.methodNotAllowed(method)
}

const addressCheck = (entries: AllowListEntries['addresses']): CallCheck | undefined => {
  const rules = rulesOf(entries, readAddressRule)
  if (rules === undefined) return undefined
  const listed = new Set(rules)
  return ({ method, params, unknownName }) => {
    if (unknownName !== undefined)
      return rejections.notAllowedWithAddresses(describeUnknownMember(unknownName, [], 'the request'))
    if (!holdsAddresses(method) && !mayTakeTracer(method)) return undefined
    if (params !== undefined && hasAmbiguousName(params))
      return rejections.notAllowedWithAddresses('repeated or escaped member names')
    const reach = callAddresses(method, params === undefined ? undefined : JSON.parse(params))
    if (reach === undefined) return undefined
    if ('forbidden' in reach) return rejections.notAllowedWithAddresses(reach.forbidden)
    for (const value of reach.addresses) {
      const address = parseAddress(value)
      if (address === undefined) return rejections.notAllowedWithAddresses('value that is no address')
      if (!listed.has(address)) return rejections.addressNotAllowed(address)
    }
    return undefined
  }
}
