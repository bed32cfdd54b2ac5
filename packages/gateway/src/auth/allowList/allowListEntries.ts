import { readAddressRule } from './addressRule.ts'
import { parseIpRange } from '../../lib/ip/ipRange.ts'
import { readMethodRule } from './methodRule.ts'
import { readOriginRule } from './originRule.ts'
import type { ParsedRule } from '../../lib/parsedRule.ts'
import { readUserAgentRule } from './userAgentRule.ts'

/** One entry of an allow list. */
export interface AllowListEntry {
  readonly value: string
  /** The owner's own word for it, up to 64 characters. */
  readonly label?: string | undefined
}

/** The allow list of an app. A type that is empty or missing restricts nothing; of several types each must be met. */
export interface AllowListEntries {
  /** As in `https://app.example.com`, `app.example.com:8443`, `*.example.com`. */
  readonly origins?: readonly AllowListEntry[] | undefined
  /** As in `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`. */
  readonly ips?: readonly AllowListEntry[] | undefined
  /** As in `eth_call`, `eth_*`. */
  readonly methods?: readonly AllowListEntry[] | undefined
  /** Contracts and accounts, in any case. */
  readonly addresses?: readonly AllowListEntry[] | undefined
  /** Parts of the header, in any case. */
  readonly userAgents?: readonly AllowListEntry[] | undefined
}

/** The types of entries. */
export type AllowListType = keyof AllowListEntries

/** What is wrong with an allow list, and how to fix it. */
export interface AllowListProblem {
  /** Where: `origins`, `origins[2].value`; empty for the whole list. */
  readonly field: string
  /** Reads on from the field's name, and repeats no value. */
  readonly fix: string
}

/** Most entries of one type. */
export const maxEntriesPerType = 30

const longestLabel = 64

const readers: Readonly<Record<AllowListType, (text: string) => ParsedRule<unknown>>> = {
  origins: readOriginRule,
  ips: parseIpRange,
  methods: readMethodRule,
  addresses: readAddressRule,
  userAgents: readUserAgentRule,
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Checks an allow list that somebody typed.
 * @param given - Anything; an `AllowListEntries` if it is good.
 * @returns All that is wrong with it; empty where it can be compiled.
 * @example
 * checkAllowListEntries({ ips: [{ value: '10.0.0.300' }] })[0]?.field // 'ips[0].value'
 */
export const checkAllowListEntries = (given: unknown): readonly AllowListProblem[] => {
  const names = Object.keys(readers)
  if (!isObject(given)) return [{ field: '', fix: `must be an object with ${names.join(', ')}` }]
  return Object.entries(given).flatMap(([type, entries]) => {
    if (!isType(type)) return [{ field: '', fix: `has a type that is not known: known are ${names.join(', ')}` }]
    return entries === undefined ? [] : checkEntries(type, entries)
  })
}

const isType = (name: string): name is AllowListType => Object.hasOwn(readers, name)

const checkEntries = (type: AllowListType, entries: unknown): readonly AllowListProblem[] => {
  if (!Array.isArray(entries)) return [{ field: type, fix: 'must be a list of entries, as in [{ value }]' }]
  if (entries.length > maxEntriesPerType)
    return [{ field: type, fix: `must have no more than ${maxEntriesPerType} entries` }]
  // Array.from, as flatMap would leave the holes of a sparse list unseen.
  return Array.from<unknown, readonly AllowListProblem[]>(entries, (entry, index) => {
    const field = `${type}[${index}]`
    if (!isObject(entry) || typeof entry['value'] !== 'string')
      return [{ field: `${field}.value`, fix: 'must be a text' }]
    const { label } = entry
    if (label !== undefined && (typeof label !== 'string' || label.length > longestLabel))
      return [{ field: `${field}.label`, fix: `must be a text of at most ${longestLabel} characters` }]
    const reading = readers[type](entry['value'])
    return 'fix' in reading ? [{ field: `${field}.value`, fix: reading.fix }] : []
  }).flat()
}
