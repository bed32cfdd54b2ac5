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

/** A compiled allow list. It has no state of its own, so that all requests of one version of an app share it. */
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

/** Called with an entry that allows a request or a call: of several, with the first one. A later check may still reject it. */
export type OnAllowListUse = (entry: AllowListEntry) => void

type RequestCheck = (request: AllowListRequest) => Rejection | undefined
type CallCheck = (call: AllowListCall) => Rejection | undefined

/**
 * Compiles an allow list, once per version of an app. A request must match one entry of every type. A request without an Origin, a user
 * agent or a valid IP does not match a list of that type. Only browsers are bound to send a true Origin and user agent: any other program
 * can forge them.
 * @param options.onUse - Called for each entry that allows a request or a call. @default nothing is called
 * @throws {TypeError} if an entry is invalid. The message names the entry and the fix, and contains no value.
 * @example
 * const list = compileAllowList({ ips: [{ value: '203.0.113.0/24', label: 'office' }] })
 * list.rejectRequest({ ip: '198.51.100.1', origin: undefined, userAgent: undefined })?.reason // 'ip_not_allowed'
 */
export const compileAllowList = (
  entries: AllowListEntries,
  { onUse = () => {} }: { onUse?: OnAllowListUse | undefined } = {},
): AllowList => {
  const [problem] = checkAllowListEntries(entries)
  if (problem !== undefined)
    throw new TypeError(`${problem.field === '' ? 'the allow list' : problem.field} ${problem.fix}`)
  const requestChecks = [
    createIpCheck(entries.ips, onUse),
    createOriginCheck(entries.origins, onUse),
    createUserAgentCheck(entries.userAgents, onUse),
  ]
  const callChecks = [createMethodCheck(entries.methods, onUse), createAddressCheck(entries.addresses, onUse)]
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
): readonly { readonly rule: Rule; readonly entry: AllowListEntry }[] | undefined => {
  if (entries === undefined || entries.length === 0) return undefined
  return entries.flatMap((entry) => {
    const parsed = parse(entry.value)
    return 'rule' in parsed ? [{ rule: parsed.rule, entry }] : []
  })
}

const createIpCheck = (entries: AllowListEntries['ips'], onUse: OnAllowListUse): RequestCheck | undefined => {
  const rules = parseRules(entries, parseIpRange)
  if (rules === undefined) return undefined
  return ({ ip }) => {
    const bytes = ip === undefined ? undefined : parseIp(ip)
    const found = bytes && rules.find(({ rule }) => matchesIp(rule, bytes))
    if (found === undefined) return rejections.ipNotAllowed()
    onUse(found.entry)
    return undefined
  }
}

const createOriginCheck = (entries: AllowListEntries['origins'], onUse: OnAllowListUse): RequestCheck | undefined => {
  const rules = parseRules(entries, parseOriginRule)
  if (rules === undefined) return undefined
  return ({ origin }) => {
    const parsed = origin === undefined ? undefined : parseOrigin(origin)
    const found = parsed && rules.find(({ rule }) => matchesOrigin(rule, parsed))
    if (found === undefined) return rejections.originNotAllowed()
    onUse(found.entry)
    return undefined
  }
}

const createUserAgentCheck = (
  entries: AllowListEntries['userAgents'],
  onUse: OnAllowListUse,
): RequestCheck | undefined => {
  const rules = parseRules(entries, parseUserAgentRule)
  if (rules === undefined) return undefined
  return ({ userAgent }) => {
    const lower = userAgent?.toLowerCase()
    const found = lower === undefined ? undefined : rules.find(({ rule }) => lower.includes(rule))
    if (found === undefined) return rejections.userAgentNotAllowed()
    onUse(found.entry)
    return undefined
  }
}

const createMethodCheck = (entries: AllowListEntries['methods'], onUse: OnAllowListUse): CallCheck | undefined => {
  const rules = parseRules(entries, parseMethodRule)
  if (rules === undefined) return undefined
  const byName = new Map(rules.flatMap(({ rule, entry }) => (rule.isPrefix ? [] : [[rule.name, entry]])))
  const prefixes = rules.filter(({ rule }) => rule.isPrefix)
  return ({ method }) => {
    const entry = byName.get(method) ?? prefixes.find(({ rule }) => method.startsWith(rule.name))?.entry
    if (entry === undefined) return rejections.methodNotAllowed(method)
    onUse(entry)
    return undefined
  }
}

const createAddressCheck = (entries: AllowListEntries['addresses'], onUse: OnAllowListUse): CallCheck | undefined => {
  const rules = parseRules(entries, parseAddressRule)
  if (rules === undefined) return undefined
  const listed = new Map(rules.map(({ rule, entry }) => [rule, entry]))
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
      const entry = listed.get(address)
      if (entry === undefined) return rejections.addressNotAllowed(address)
      onUse(entry)
    }
    return undefined
  }
}
