import { scanItems } from '../../../lib/json/scanMembers.ts'
import { toHex } from '../../../lib/rpc/quantity.ts'
import { anyAddress } from '../../../storage/chainStore/logQuery.ts'
import type { LogQuery, Topics } from '../../../storage/chainStore/logQuery.ts'
import type { StoredLogs } from '../../../storage/chainStore/createChainReader.ts'
import { parseBlockNumber, parseMembers } from '../findPinnedBlock.ts'

/** What a store does not have of a query. */
export type MissingLogs = NonNullable<StoredLogs['missing']>

/** Params of `eth_getLogs` that have one meaning for all nodes. */
export interface ParsedLogQuery {
  readonly query: LogQuery
  /** Creates the params for a part of it: everything else stays as the caller spelled it. */
  readonly toParams: (missing: MissingLogs) => string
}

const names: ReadonlySet<string> = new Set(['address', 'topics', 'fromBlock', 'toBlock'])
const maxTopics = 4
const address = /^0x[0-9a-f]{40}$/
const topic = /^0x[0-9a-f]{64}$/

/**
 * Parses the params of `eth_getLogs` into the canonical form that logs are stored by.
 * @param params - Source text.
 * @returns `undefined` if a block is not a number, or if nodes might read it differently: an empty list of addresses, or of topics in a position, a
 * `null` in a list, and members with other names.
 */
export const parseLogQuery = (params: string): ParsedLogQuery | undefined => {
  const items = scanItems(params)?.items ?? []
  const [item] = items
  if (item === undefined || items.length > 1) return undefined
  const members = parseMembers(params.slice(item.start, item.end))
  if (members === undefined || [...members.keys()].some((name) => !names.has(name))) return undefined
  const first = parseBlockNumber(members.get('fromBlock'))
  const last = parseBlockNumber(members.get('toBlock'))
  const addressSource = members.get('address')
  const topicsSource = members.get('topics')
  const addresses = parseAddresses(addressSource)
  const topics = parseTopics(topicsSource)
  if (first === undefined || last === undefined || first > last || addresses === undefined || topics === undefined)
    return undefined
  return {
    query: { first, last, addresses, topics },
    toParams: (missing) => {
      const isPart = missing.addresses.length < addresses.length
      const ownAddress = isPart ? JSON.stringify(missing.addresses) : addressSource
      return `[{${ownAddress === undefined ? '' : `"address":${ownAddress},`}${topicsSource === undefined ? '' : `"topics":${topicsSource},`}"fromBlock":"${toHex(missing.first)}","toBlock":"${toHex(missing.last)}"}]`
    },
  }
}

/** Each once, sorted; `undefined` if one is no text of this form. */
const parseSet = (values: readonly unknown[], pattern: RegExp): readonly string[] | undefined => {
  const texts = new Set<string>()
  for (const value of values) {
    const text = typeof value === 'string' ? value.toLowerCase() : ''
    if (!pattern.test(text)) return undefined
    texts.add(text)
  }
  return texts.size === 0 ? undefined : [...texts].toSorted()
}

const parseAddresses = (source: string | undefined): readonly string[] | undefined => {
  if (source === undefined) return [anyAddress]
  const value: unknown = JSON.parse(source)
  return parseSet(Array.isArray(value) ? value : [value], address)
}

const parseTopics = (source: string | undefined): Topics | undefined => {
  const value: unknown = source === undefined ? [] : JSON.parse(source)
  if (!Array.isArray(value) || value.length > maxTopics) return undefined
  const topics = value.map((one: unknown) => (one === null ? null : parseSet(Array.isArray(one) ? one : [one], topic)))
  return topics.includes(undefined) ? undefined : (topics as Topics)
}
