import { scanItems, scanMembers } from '../../lib/json/scanMembers.ts'
import type { PinRule } from '../method/createMethodPolicy.ts'

/**
 * The chain state that a response is pinned to. `hash`: a block hash, so the response never changes. A number: it no longer changes once that
 * block is finalized. `transaction`: the same, for the block that the response names.
 */
export type Pin = 'hash' | 'transaction' | number

const block = /^"0x0*([0-9a-fA-F]{1,13})"$/
const hash = /^"0x[0-9a-fA-F]{64}"$/

/**
 * Finds the chain state that a call's params pin its response to; `undefined` if the response can change with every block. A member name
 * that repeats or is escaped pins nothing, because a node might read it differently.
 * @param params - Source text.
 */
export const findPinnedBlock = (rule: PinRule, params: string): Pin | undefined => {
  // A shortcut for by far the most calls.
  if (params.endsWith('"latest"]')) return undefined
  const scanned = scanItems(params)
  if (scanned === undefined) return undefined
  const items = scanned.items.map(({ start, end }) => params.slice(start, end))
  const param = items[rule.at] ?? ''
  if (rule.by === 'block') return parseBlock(param)
  if (rule.by === 'logs') return parseLogFilter(param)
  return hash.test(param) ? rule.by : undefined
}

/** Parses the source text of a block number such as `"0x1f"`; `undefined` if it is anything else. */
export const parseBlockNumber = (source: string | undefined): number | undefined => {
  const digits = source === undefined ? undefined : block.exec(source)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

/** Parses the source text of a hash. @returns It in lower case; `undefined` if it is anything else. */
export const parseHash = (source: string | undefined): string | undefined =>
  source !== undefined && hash.test(source) ? source.slice(1, -1).toLowerCase() : undefined

/** A block number, a block hash, or the object of EIP-1898 with one of them. */
const parseBlock = (source: string): Pin | undefined => {
  if (source[0] !== '{') return hash.test(source) ? 'hash' : parseBlockNumber(source)
  const members = parseMembers(source)
  // With `requireCanonical` the same call may fail later.
  if (members?.size !== 1) return undefined
  if (hash.test(members.get('blockHash') ?? '')) return 'hash'
  return parseBlockNumber(members.get('blockNumber'))
}

const parseLogFilter = (source: string): Pin | undefined => {
  const members = parseMembers(source)
  if (members === undefined) return undefined
  const [from, to] = [members.get('fromBlock'), members.get('toBlock')]
  const blockHash = members.get('blockHash')
  if (blockHash !== undefined)
    return from === undefined && to === undefined && hash.test(blockHash) ? 'hash' : undefined
  const [first, last] = [parseBlockNumber(from), parseBlockNumber(to)]
  return first === undefined || last === undefined ? undefined : Math.max(first, last)
}

/** Finds the members of an object by name; `undefined` if a name repeats or is escaped, because a node might read it differently. */
export const parseMembers = (source: string): ReadonlyMap<string, string> | undefined => {
  const scanned = scanMembers(source)
  if (scanned === undefined || source.includes('\\')) return undefined
  const members = new Map<string, string>()
  for (const { name, start, end } of scanned.members) {
    if (members.has(name)) return undefined
    members.set(name, source.slice(start, end))
  }
  return members
}
