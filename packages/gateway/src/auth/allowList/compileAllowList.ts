import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { parseAddress, parseAddressRule } from './addressRule.ts'
import { checkAllowListEntries } from './allowListEntries.ts'
import type { AllowListEntries, AllowListEntry } from './allowListEntries.ts'
import { findCallAddresses, needsAddressCheck } from './findCallAddresses.ts'
import { describeUnknownMember } from './findShapeProblem.ts'
import { hasAmbiguousName } from './hasAmbiguousName.ts'
import { matchesIp, parseIpRange } from '../../lib/ip/ipRange.ts'
import { parseMethodRule } from './methodRule.ts'
import { matchesOrigin, parseOrigin, parseOriginRule } from './originRule.ts'
import { parseIp } from '../../lib/ip/parseIp.ts'
import type { ParsedRule } from '../../lib/parsedRule.ts'
import { acceptsTracer } from './findCustomTracer.ts'
import { parseUserAgentRule } from './userAgentRule.ts'

/** The parts of a request that are checked before its body is read. */
export interface AllowListRequest {
  /** The caller's IP in the form of `socket.remoteAddress`. */
  readonly ip: string | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** The `User-Agent` header. */
  readonly userAgent: string | undefined
}

/** A compiled allow list. It is stateless, so that all requests of one version of an app share it. */
export interface AllowList {
  /** Returns the rejection of a request, or `undefined`. */
  rejectRequest(request: AllowListRequest): Rejection | undefined
  /** Returns the rejection of a call, or `undefined`. Each call of a batch is checked individually. */
  rejectCall(call: AllowListCall): Rejection | undefined
}

/** A call to check. */
export interface AllowListCall {
  readonly method: string
  /** The source text of params in a body that JSON.parse accepts; `undefined` if there are none. */
  readonly params: string | undefined
  /** The first member of the request that JSON-RPC does not define. @default none */
  readonly unknownName?: string | undefined
}

type RequestCheck = (request: AllowListRequest) => Rejection | undefined
type CallCheck = (call: AllowListCall) => Rejection | undefined

/**
 * Compiles an allow list, once per version of an app. A request must match one entry of every type. A request without an Origin, a user
 * agent or a valid IP does not match a list of that type. Only browsers are bound to send a true Origin and user agent: any other program
 * can forge them.
 * @throws {TypeError} if an entry is invalid. The message names the entry and the fix, and contains no value.
 * @example
 * const list = compileAllowList({ ips: [{ value: '203.0.113.0/24', label: 'office' }] })
 * list.rejectRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason // 'ip_not_allowed'
 */
export const compileAllowList = (entries: AllowListEntries): AllowList => {
  const [problem] = checkAllowListEntries(entries)
  if (problem !== undefined)
    throw new TypeError(`${problem.field === '' ? 'the allow list' : problem.field} ${problem.fix}`)
  const requestChecks = [
    createIpCheck(entries.ips),
    createOriginCheck(entries.origins),
    createUserAgentCheck(entries.userAgents),
  ]
  const callChecks = [createMethodCheck(entries.methods), createAddressCheck(entries.addresses)]
  const activeRequestChecks = requestChecks.filter((check) => check !== undefined)
  const activeCallChecks = callChecks.filter((check) => check !== undefined)
  return {
    rejectRequest: (request) => findRejection(activeRequestChecks, request),
    rejectCall: (call) => findRejection(activeCallChecks, call),
  }
}

const findRejection = <Subject>(
  checks: readonly ((subject: Subject) => Rejection | undefined)[],
  subject: Subject,
): Rejection | undefined => {
  for (const check of checks) {
    const rejection = check(subject)
    if (rejection !== undefined) return rejection
  }
  return undefined
}

/** Parses the rules of a type; `undefined` if it restricts nothing. */
const parseRules = <Rule>(
  entries: readonly AllowListEntry[] | undefined,
  parse: (text: string) => ParsedRule<Rule>,
): readonly Rule[] | undefined => {
  if (entries === undefined || entries.length === 0) return undefined
  return entries.flatMap(({ value }) => {
    const parsed = parse(value)
    return 'rule' in parsed ? [parsed.rule] : []
  })
}

const createIpCheck = (entries: AllowListEntries['ips']): RequestCheck | undefined => {
  const rules = parseRules(entries, parseIpRange)
  if (rules === undefined) return undefined
  return ({ ip }) => {
    const bytes = ip === undefined ? undefined : parseIp(ip)
    return bytes !== undefined && rules.some((rule) => matchesIp(rule, bytes)) ? undefined : rejections.ipNotAllowed()
  }
}

const createOriginCheck = (entries: AllowListEntries['origins']): RequestCheck | undefined => {
  const rules = parseRules(entries, parseOriginRule)
  if (rules === undefined) return undefined
  return ({ origin }) => {
    const parsed = origin === undefined ? undefined : parseOrigin(origin)
    return parsed !== undefined && rules.some((rule) => matchesOrigin(rule, parsed))
      ? undefined
      : rejections.originNotAllowed()
  }
}

const createUserAgentCheck = (entries: AllowListEntries['userAgents']): RequestCheck | undefined => {
  const rules = parseRules(entries, parseUserAgentRule)
  if (rules === undefined) return undefined
  return ({ userAgent }) => {
    const lower = userAgent?.toLowerCase()
    return lower !== undefined && rules.some((part) => lower.includes(part))
      ? undefined
      : rejections.userAgentNotAllowed()
  }
}

const createMethodCheck = (entries: AllowListEntries['methods']): CallCheck | undefined => {
  const rules = parseRules(entries, parseMethodRule)
  if (rules === undefined) return undefined
  const names = new Set(rules.filter((rule) => !rule.isPrefix).map((rule) => rule.name))
  const prefixes = rules.filter((rule) => rule.isPrefix).map((rule) => rule.name)
  return ({ method }) =>
    names.has(method) || prefixes.some((prefix) => method.startsWith(prefix))
      ? undefined
      : rejections.methodNotAllowed(method)
}

const createAddressCheck = (entries: AllowListEntries['addresses']): CallCheck | undefined => {
  const rules = parseRules(entries, parseAddressRule)
  if (rules === undefined) return undefined
  const listed = new Set(rules)
  return ({ method, params, unknownName }) => {
    if (unknownName !== undefined)
      return rejections.notAllowedWithAddresses(describeUnknownMember(unknownName, [], 'the request'))
    if (!needsAddressCheck(method) && !acceptsTracer(method)) return undefined
    if (params !== undefined && hasAmbiguousName(params))
      return rejections.notAllowedWithAddresses('repeated or escaped member names')
    const found = findCallAddresses(method, params === undefined ? undefined : JSON.parse(params))
    if (found === undefined) return undefined
    if ('forbidden' in found) return rejections.notAllowedWithAddresses(found.forbidden)
    for (const value of found.addresses) {
      const address = parseAddress(value)
      if (address === undefined) return rejections.notAllowedWithAddresses('value that is not an address')
      if (!listed.has(address)) return rejections.addressNotAllowed(address)
    }
    return undefined
  }
}
