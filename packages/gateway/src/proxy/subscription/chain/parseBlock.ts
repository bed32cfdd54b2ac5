import { scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import { parseHash, parseMembers } from '../../upstream/findPinnedBlock.ts'
import { parseQuantity } from '../../../lib/rpc/quantity.ts'
import type { FollowedBlock } from '../followedChain.ts'

/** A followed block, with what the follower itself needs of it. */
export interface ChainBlock extends FollowedBlock {
  /** In seconds since 1970. */
  readonly timestamp: number
  /** In lower case; `undefined` if the node sent none. */
  readonly logsBloom: string | undefined
  /** How many transactions it has. */
  readonly transactions: number
}

/** The fields of a block that geth's `newHeads` lacks. Old versions of geth have `totalDifficulty` in blocks. */
const notInHeader: ReadonlySet<string> = new Set(['transactions', 'uncles', 'withdrawals', 'size', 'totalDifficulty'])

/** The longest header. Those of all chains have a few kB. Each is kept for as long as subscriptions can continue from its block. */
const maxHeaderLength = 256 * 1024

/**
 * Parses a block that was read with hashes of transactions. Its header has the other members as the node spelled them, in the node's order.
 * @param text - The JSON text of a result.
 * @returns `null` if the node does not have the block, `undefined` if the text is not a mined block.
 */
export const parseBlock = (text: string): ChainBlock | null | undefined => {
  if (text === 'null') return null
  const scanned = scanMembers(text)
  if (scanned === undefined) return undefined
  const parts: string[] = []
  let transactions = 0
  for (const { name, start, end } of scanned.members) {
    if (name === 'transactions') transactions = scanItems(text, start, 0)?.count ?? 0
    if (!notInHeader.has(name)) parts.push(`${JSON.stringify(name)}:${text.slice(start, end)}`)
  }
  const header = `{${parts.join(',')}}`
  if (header.length > maxHeaderLength) return undefined
  // Parts of the header, not of the block: those would keep all hashes of transactions in memory.
  const values = parseMembers(header) ?? new Map<string, string>()
  const number = parseQuantity(values.get('number'))
  const timestamp = parseQuantity(values.get('timestamp'))
  const hash = parseHash(values.get('hash'))
  const parentHash = parseHash(values.get('parentHash'))
  if (number === undefined || timestamp === undefined || hash === undefined || parentHash === undefined)
    return undefined
  return {
    number,
    hash,
    parentHash,
    timestamp,
    header,
    logs: undefined,
    logsBloom: parseBytes(values.get('logsBloom')),
    transactions,
  }
}

const bytes = /^"(0x[\da-fA-F]*)"$/

/** Parses the source text of a hex string; `undefined` if it is none. @returns It in lower case. */
export const parseBytes = (source: string | undefined): string | undefined =>
  bytes.exec(source ?? '')?.[1]?.toLowerCase()
