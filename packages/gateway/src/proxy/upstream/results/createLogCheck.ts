import { foldName } from '../../../lib/json/foldName.ts'
import { scanItems } from '../../../lib/json/scanMembers.ts'
import { parseQuantity } from '../../../lib/rpc/quantity.ts'
import { parseBlockNumber, parseHash, parseMembers } from '../findPinnedBlock.ts'
import { createItemsCheck } from './createItemsCheck.ts'
import type { ResultCheck } from './createItemsCheck.ts'

/** A filter of logs. `undefined` allows everything. */
interface Filter {
  readonly addresses: ReadonlySet<string> | undefined
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
  readonly blockHash: string | undefined
  readonly from: number | undefined
  readonly to: number | undefined
}

const names: ReadonlySet<string> = new Set(['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'])
const foldedNames: ReadonlySet<string> = new Set([...names].map(foldName))
/** Other addresses are not compared: some chains spell them with a prefix of their own. */
const address = /^0x[\da-f]{40}$/
const topic = /^0x[\da-f]{64}$/

/** Creates the check of a result of `eth_getLogs`: each log is inside the filter and its range, and after the one before it. */
export const createLogCheck = (params: string): ResultCheck | undefined => {
  const filter = parseFilter(params)
  let last: readonly number[] = []
  return (
    filter &&
    createItemsCheck((text, members) => {
      const get = (wanted: string): string | undefined => {
        const found = members.find(({ name }) => name === wanted)
        return found && text.slice(found.start, found.end)
      }
      // A log that a reorganization removed says so.
      if (get('removed') === 'true') return true
      if (!matches(filter, get)) return false
      const place = places.map((name) => parseQuantity(get(name) ?? '')).filter((number) => number !== undefined)
      const isInOrder = place.length < places.length || isAfter(place, last)
      if (place.length === places.length) last = place
      return isInOrder
    })
  )
}

/** Some chains count the logs of each transaction. */
const places = ['blockNumber', 'transactionIndex', 'logIndex'] as const

const isAfter = (place: readonly number[], last: readonly number[]): boolean => {
  const first = place.findIndex((number, index) => number !== last[index])
  return first !== -1 && (place[first] ?? 0) > (last[first] ?? -1)
}

const matches = (
  { addresses, topics, blockHash, from, to }: Filter,
  get: (name: string) => string | undefined,
): boolean => {
  const sender = get('address')?.slice(1, -1).toLowerCase() ?? ''
  if (addresses !== undefined && address.test(sender) && !addresses.has(sender)) return false
  const hash = parseHash(get('blockHash'))
  if (blockHash !== undefined && hash !== undefined && hash !== blockHash) return false
  const number = parseQuantity(get('blockNumber') ?? '')
  if (number !== undefined && (number < (from ?? 0) || number > (to ?? Infinity))) return false
  if (topics.every((topic) => topic === undefined)) return true
  const text = get('topics') ?? ''
  const own = scanItems(text)?.items.map(({ start, end }) => text.slice(start + 1, end - 1).toLowerCase())
  return own === undefined || topics.every((topic, index) => topic === undefined || topic.has(own[index] ?? ''))
}

/** @returns `undefined` for a filter that nodes might read differently. */
const parseFilter = (params: string): Filter | undefined => {
  const item = scanItems(params, 0, 1)?.items[0]
  const source = item && params.slice(item.start, item.end)
  const members = source?.[0] === '{' ? parseMembers(source) : undefined
  if (members === undefined || [...members.keys()].some((name) => !names.has(name) && foldedNames.has(foldName(name))))
    return undefined
  const parse = (name: string): unknown => JSON.parse(members.get(name) ?? 'null')
  const addresses = toChoice(parse('address'), address)
  const given = parse('topics') ?? []
  const topics = Array.isArray(given) ? given.map((one) => toChoice(one, topic)) : ['unknown' as const]
  if (addresses === 'unknown' || topics.includes('unknown')) return undefined
  return {
    addresses,
    topics: topics as readonly (ReadonlySet<string> | undefined)[],
    blockHash: parseHash(members.get('blockHash')),
    from: parseBlockNumber(members.get('fromBlock')),
    to: parseBlockNumber(members.get('toBlock')),
  }
}

/** The values that a filter allows: one, or one of a list. `null` and an empty list allow everything. Some nodes accept other spellings of a value too. */
const toChoice = (given: unknown, pattern: RegExp): ReadonlySet<string> | undefined | 'unknown' => {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0 || list.includes(null)) return undefined
  const values = list.map((one) => String(one).toLowerCase())
  return values.every((value) => pattern.test(value)) ? new Set(values) : 'unknown'
}
