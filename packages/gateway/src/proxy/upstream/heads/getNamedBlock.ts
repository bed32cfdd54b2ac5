import { scanItems } from '../../../lib/json/scanMembers.ts'
import { methods } from '../../../lib/methods.ts'
import { parseBlockNumber, parseMembers } from '../findPinnedBlock.ts'

/** The highest block that a call names by its number. */
export interface NamedBlock {
  readonly number: number
  /** The call also names a block by a tag, such as `latest`, or leaves the end of a range open. */
  readonly hasTag: boolean
}

const hash = /^"0x[0-9a-fA-F]{64}"$/

/**
 * Finds the highest block that a call names by its number.
 * @param params - Source text.
 * @returns `hash` if it names its block by a hash, `undefined` if it names none, or only by tags.
 * @example
 * getNamedBlock('eth_getLogs', '[{"fromBlock":"0x10","toBlock":"latest"}]') // { number: 16, hasTag: true }
 */
export const getNamedBlock = (method: string, params: string | undefined): NamedBlock | 'hash' | undefined => {
  const row = methods.get(method)
  const at = row?.block ?? row?.range
  // A shortcut for by far the most calls.
  if (at === undefined || params === undefined || params.endsWith('"latest"]')) return undefined
  const item = scanItems(params, 0, at + 1)?.items[at]
  if (item === undefined) return undefined
  const source = params.slice(item.start, item.end)
  if (source[0] !== '{') return hash.test(source) ? 'hash' : toNamedBlock([source])
  const members = parseMembers(source)
  if (members?.has('blockHash') === true) return 'hash'
  return row?.range === undefined
    ? toNamedBlock([members?.get('blockNumber')])
    : toNamedBlock([members?.get('fromBlock'), members?.get('toBlock')])
}

const toNamedBlock = (sources: readonly (string | undefined)[]): NamedBlock | undefined => {
  const numbers = sources.map(parseBlockNumber).filter((number) => number !== undefined)
  return numbers.length === 0 ? undefined : { number: Math.max(...numbers), hasTag: numbers.length < sources.length }
}

const namesBlocks = (method: string): boolean => {
  const row = methods.get(method)
  return row?.block !== undefined || row?.range !== undefined
}

/** Whether a call names a block by a tag that not all nodes know. */
export const namesFinalTag = ({
  method,
  params = '',
}: {
  readonly method: string
  readonly params?: string | undefined
}): boolean => namesBlocks(method) && /"(?:safe|finalized)"/.test(params)

/** Whether a call names a block by number that is above a node's head. */
export const isAboveHead = (
  { method, params }: { readonly method: string; readonly params?: string | undefined },
  head: number | undefined,
): boolean => {
  const named = getNamedBlock(method, params)
  return typeof named === 'object' && head !== undefined && named.number > head
}
