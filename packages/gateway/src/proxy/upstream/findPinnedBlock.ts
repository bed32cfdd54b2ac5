import { scanItems, scanMembers } from '../../lib/json/scanMembers.ts'
import type { PinRule } from '../method/pinRules.ts'

/**
 * What holds an answer to one state of the chain. `hash`: a block's hash, so it never changes. A number: it changes no more once
 * that block is finalized. `transaction`: the same, of the block that the answer names.
 */
export type Pin = 'hash' | 'transaction' | number

const block = /^"0x([0-9a-fA-F]{1,13})"$/
const hash = /^"0x[0-9a-fA-F]{64}"$/

/**
 * Finds what a call's params hold its answer to; `undefined` where it may change with every block. A name that stands twice, or
 * with an escape, pins nothing: a node might read it otherwise.
 * @param params - Source text.
 */
export const findPinnedBlock = (rule: PinRule, params: string): Pin | undefined => {
  // By far the most calls.
  if (params.endsWith('"latest"]')) return undefined
  const scanned = scanItems(params)
  if (scanned === undefined) return undefined
  const items = scanned.items.map(({ start, end }) => params.slice(start, end))
  const given = items[rule.at] ?? ''
  if (rule.by === 'block') return pinOfBlock(given)
  if (rule.by === 'logs') return pinOfLogs(given)
  return hash.test(given) ? rule.by : undefined
}

const numberOf = (source: string | undefined): number | undefined => {
  const digits = source === undefined ? undefined : block.exec(source)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

/** A block's number, its hash, or EIP-1898's object with one of them. */
const pinOfBlock = (source: string): Pin | undefined => {
  if (source[0] !== '{') return hash.test(source) ? 'hash' : numberOf(source)
  const members = membersOf(source)
  // With `requireCanonical` the same call may fail later.
  if (members?.size !== 1) return undefined
  if (hash.test(members.get('blockHash') ?? '')) return 'hash'
  return numberOf(members.get('blockNumber'))
}

const pinOfLogs = (source: string): Pin | undefined => {
  const members = membersOf(source)
  if (members === undefined) return undefined
  const [from, to] = [members.get('fromBlock'), members.get('toBlock')]
  const blockHash = members.get('blockHash')
  if (blockHash !== undefined)
    return from === undefined && to === undefined && hash.test(blockHash) ? 'hash' : undefined
  const [first, last] = [numberOf(from), numberOf(to)]
  return first === undefined || last === undefined ? undefined : Math.max(first, last)
}

const membersOf = (source: string): ReadonlyMap<string, string> | undefined => {
  const scanned = scanMembers(source)
  if (scanned === undefined || source.includes('\\')) return undefined
  const members = new Map<string, string>()
  for (const { name, start, end } of scanned.members) {
    if (members.has(name)) return undefined
    members.set(name, source.slice(start, end))
  }
  return members
}
