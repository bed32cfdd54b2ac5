import { parseAddressRule } from './addressRule.ts'
import { parseIpRange } from '../../lib/ip/ipRange.ts'
import { parseMethodRule } from './methodRule.ts'
import { parseOriginRule } from './originRule.ts'
import type { ParsedRule } from '../../lib/parsedRule.ts'
import { parseUserAgentRule } from './userAgentRule.ts'

/** One entry of an allow list. */
export interface AllowListEntry {
  /** Identifies it to `trackUse` of `compileAllowList`. */
  readonly id?: string | undefined
  readonly value: string
  /** A note of the owner, up to 64 characters. */
  readonly label?: string | undefined
}

/** The allow list of an app. An empty or missing type restricts nothing. With several types, a request must match each. */
export interface AllowListEntries {
  /** For example `https://app.example.com`, `app.example.com:8443`, `*.example.com`. */
  readonly origins?: readonly AllowListEntry[] | undefined
  /** For example `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`. */
  readonly ips?: readonly AllowListEntry[] | undefined
  /** For example `eth_call`, `eth_*`. */
  readonly methods?: readonly AllowListEntry[] | undefined
  /** Contracts and accounts, case-insensitive. */
  readonly addresses?: readonly AllowListEntry[] | undefined
  /** Parts of the header, case-insensitive. */
  readonly userAgents?: readonly AllowListEntry[] | undefined
}

/** The types of entries. */
export type AllowListType = keyof AllowListEntries

/** A problem of an allow list and its fix. */
export interface AllowListProblem {
  /** For example `origins` or `origins[2].value`; empty for the whole list. */
  readonly field: string
  /** Continues a sentence that starts with the field's name. Contains no value. */
  readonly fix: string
}

/** Most entries per type. */
export const maxEntriesPerType = 30

const maxLabelLength = 64

const parsers: Readonly<Record<AllowListType, (text: string) => ParsedRule<unknown>>> = {
  origins: parseOriginRule,
  ips: parseIpRange,
  methods: parseMethodRule,
  addresses: parseAddressRule,
  userAgents: parseUserAgentRule,
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Checks an allow list from user input.
 * @param given - Any value; an `AllowListEntries` if it is valid.
 * @returns All problems; empty if it can be compiled.
 * @example
 * checkAllowListEntries({ ips: [{ value: '10.0.0.300' }] })[0]?.field // 'ips[0].value'
 */
export const checkAllowListEntries = (given: unknown): readonly AllowListProblem[] => {
  const names = Object.keys(parsers)
  if (!isObject(given)) return [{ field: '', fix: `must be an object with ${names.join(', ')}` }]
  return Object.entries(given).flatMap(([type, entries]) => {
    if (!isType(type)) return [{ field: '', fix: `has an unknown type: use ${names.join(', ')}` }]
    return entries === undefined ? [] : checkEntries(type, entries)
  })
}

const isType = (name: string): name is AllowListType => Object.hasOwn(parsers, name)

const checkEntries = (type: AllowListType, entries: unknown): readonly AllowListProblem[] => {
  if (!Array.isArray(entries)) return [{ field: type, fix: 'must be a list of entries such as [{ value }]' }]
  if (entries.length > maxEntriesPerType)
    return [{ field: type, fix: `must have at most ${maxEntriesPerType} entries` }]
  // Array.from, because flatMap skips the holes of a sparse list.
  return Array.from<unknown, readonly AllowListProblem[]>(entries, (entry, index) => {
    const field = `${type}[${index}]`
    if (!isObject(entry) || typeof entry['value'] !== 'string')
      return [{ field: `${field}.value`, fix: 'must be a string' }]
    const { label } = entry
    if (label !== undefined && (typeof label !== 'string' || label.length > maxLabelLength))
      return [{ field: `${field}.label`, fix: `must be a string of at most ${maxLabelLength} characters` }]
    const parsed = parsers[type](entry['value'])
    return 'fix' in parsed ? [{ field: `${field}.value`, fix: parsed.fix }] : []
  }).flat()
}
