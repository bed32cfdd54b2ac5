import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { parseAddress, parseAddressRule } from './addressRule.ts'
import { checkAllowListEntries } from './allowListEntries.ts'
import type { AllowListEntries, AllowListEntry } from './allowListEntries.ts'
import { findCallAddresses, needsAddressCheck } from './findCallAddresses.ts'
import { describeUnknownMember } from './findShapeProblem.ts'
import { hasAmbiguousName } from './hasAmbiguousName.ts'
import { methods } from '../../lib/methods.ts'
import type { OfferedMethod } from '../../lib/methods.ts'
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

/** A compiled allow list. It has no state of its own, so that all requests of one version of an app share it. */
export interface AllowList {
  /** Returns the rejection of a request, or `undefined`. */
  rejectRequest(request: AllowListRequest): Rejection | undefined
  /**
   * Returns the rejection of a call, or `undefined`. Each call of a batch is checked individually.
   * @param row - What is known about its method. @default its row in the table of methods
   */
  rejectCall(call: AllowListCall, row?: OfferedMethod): Rejection | undefined
}

/** A call to check. */
export interface AllowListCall {
  readonly method: string
  /** The source text of params in a body that JSON.parse accepts; `undefined` if there are none. */
  readonly params: string | undefined
  /** The first member of the request that JSON-RPC does not define. @default none */
  readonly unknownName?: string | undefined
}

/**
 * Called once for each entry of a list. The function that it returns is called each time the entry allows a request or a call; of several
 * entries, only for the first one. A later check may still reject it.
 */
export type TrackAllowListUse = (entry: AllowListEntry) => () => void

type RequestCheck = (request: AllowListRequest) => Rejection | undefined
type CallCheck = (call: AllowListCall, row: OfferedMethod | undefined) => Rejection | undefined

/**
 * Compiles an allow list, once per version of an app. A request must match one entry of every type. A request without an Origin, a user
 * agent or a valid IP does not match a list of that type. Only browsers are bound to send a true Origin and user agent: any other program
 * can forge them.
 * @param options.trackUse - Creates the function to call when an entry allows a request or a call. @default nothing is called
 * @throws {TypeError} if an entry is invalid. The message names the entry and the fix, and contains no value.
 * @example
 * const list = compileAllowList({ ips: [{ value: '203.0.113.0/24', label: 'office' }] })
 * list.rejectRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason // 'ip_not_allowed'
 */
export const compileAllowList = (
  entries: AllowListEntries,
  { trackUse = () => () => {} }: { trackUse?: TrackAllowListUse | undefined } = {},
): AllowList => {
  const [problem] = checkAllowListEntries(entries)
  if (problem !== undefined)
    throw new TypeError(`${problem.field === '' ? 'the allow list' : problem.field} ${problem.fix}`)
  const requestChecks = [
    createIpCheck(entries.ips, trackUse),
    createOriginCheck(entries.origins, trackUse),
    createUserAgentCheck(entries.userAgents, trackUse),
  ]
  const callChecks = [createMethodCheck(entries.methods, trackUse), createAddressCheck(entries.addresses, trackUse)]
  const activeRequestChecks = requestChecks.filter((check) => check !== undefined)
  const activeCallChecks = callChecks.filter((check) => check !== undefined)
  return {
    rejectRequest: (request) => findRejection(activeRequestChecks, request),
    rejectCall: (call, row = methods.get(call.method)) => findRejection(activeCallChecks, call, row),
  }
}

const findRejection = <Subject extends readonly unknown[]>(
  checks: readonly ((...subject: Subject) => Rejection | undefined)[],
  ...subject: Subject
): Rejection | undefined => {
  for (const check of checks) {
    const rejection = check(...subject)
    if (rejection !== undefined) return rejection
  }
  return undefined
}

/** Parses the rules of a type; `undefined` if it restricts nothing. */
const parseRules = <Rule>(
  entries: readonly AllowListEntry[] | undefined,
  parse: (text: string) => ParsedRule<Rule>,
  trackUse: TrackAllowListUse,
): readonly { readonly rule: Rule; readonly recordUse: () => void }[] | undefined => {
  if (entries === undefined || entries.length === 0) return undefined
  return entries.flatMap((entry) => {
    const parsed = parse(entry.value)
    return 'rule' in parsed ? [{ rule: parsed.rule, recordUse: trackUse(entry) }] : []
  })
}

const createIpCheck = (entries: AllowListEntries['ips'], trackUse: TrackAllowListUse): RequestCheck | undefined => {
  const rules = parseRules(entries, parseIpRange, trackUse)
  if (rules === undefined) return undefined
  return ({ ip }) => {
    const bytes = ip === undefined ? undefined : parseIp(ip)
    const found = bytes && rules.find(({ rule }) => matchesIp(rule, bytes))
    if (found === undefined) return rejections.ipNotAllowed()
    found.recordUse()
    return undefined
  }
}

const createOriginCheck = (
  entries: AllowListEntries['origins'],
  trackUse: TrackAllowListUse,
): RequestCheck | undefined => {
  const rules = parseRules(entries, parseOriginRule, trackUse)
  if (rules === undefined) return undefined
  return ({ origin }) => {
    const parsed = origin === undefined ? undefined : parseOrigin(origin)
    const found = parsed && rules.find(({ rule }) => matchesOrigin(rule, parsed))
    if (found === undefined) return rejections.originNotAllowed()
    found.recordUse()
    return undefined
  }
}

const createUserAgentCheck = (
  entries: AllowListEntries['userAgents'],
  trackUse: TrackAllowListUse,
): RequestCheck | undefined => {
  const rules = parseRules(entries, parseUserAgentRule, trackUse)
  if (rules === undefined) return undefined
  return ({ userAgent }) => {
    const lower = userAgent?.toLowerCase()
    const found = lower === undefined ? undefined : rules.find(({ rule }) => lower.includes(rule))
    if (found === undefined) return rejections.userAgentNotAllowed()
    found.recordUse()
    return undefined
  }
}

const createMethodCheck = (
  entries: AllowListEntries['methods'],
  trackUse: TrackAllowListUse,
): CallCheck | undefined => {
  const rules = parseRules(entries, parseMethodRule, trackUse)
  if (rules === undefined) return undefined
  const byName = new Map(rules.flatMap(({ rule, recordUse }) => (rule.isPrefix ? [] : [[rule.name, recordUse]])))
  const prefixes = rules.filter(({ rule }) => rule.isPrefix)
  return ({ method }) => {
    const recordUse = byName.get(method) ?? prefixes.find(({ rule }) => method.startsWith(rule.name))?.recordUse
    if (recordUse === undefined) return rejections.methodNotAllowed(method)
    recordUse()
    return undefined
  }
}

const createAddressCheck = (
  entries: AllowListEntries['addresses'],
  trackUse: TrackAllowListUse,
): CallCheck | undefined => {
  const rules = parseRules(entries, parseAddressRule, trackUse)
  if (rules === undefined) return undefined
  const listed = new Map(rules.map(({ rule, recordUse }) => [rule, recordUse]))
  return ({ params, unknownName }, row) => {
    if (unknownName !== undefined)
      return rejections.notAllowedWithAddresses(describeUnknownMember(unknownName, [], 'the request'))
    if (!needsAddressCheck(row) && !acceptsTracer(row)) return undefined
    if (params !== undefined && hasAmbiguousName(params))
      return rejections.notAllowedWithAddresses('repeated or escaped member names')
    const found = findCallAddresses(row, params === undefined ? undefined : JSON.parse(params))
    if (found === undefined) return undefined
    if ('forbidden' in found) return rejections.notAllowedWithAddresses(found.forbidden)
    for (const value of found.addresses) {
      const address = parseAddress(value)
      if (address === undefined) return rejections.notAllowedWithAddresses('value that is not an address')
      const recordUse = listed.get(address)
      if (recordUse === undefined) return rejections.addressNotAllowed(address)
      recordUse()
    }
    return undefined
  }
}
