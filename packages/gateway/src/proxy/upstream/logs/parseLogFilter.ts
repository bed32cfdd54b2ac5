import { toHex } from '../../../lib/rpc/quantity.ts'
import { foldName } from '../../../lib/json/foldName.ts'
import { scanItems } from '../../../lib/json/scanMembers.ts'
import { parseBlockNumber, parseMembers } from '../findPinnedBlock.ts'
import type { BlockRange } from './createLogPlan.ts'

const tags = ['earliest', 'latest', 'safe', 'finalized'] as const

/** A block in a log filter: its number, or a tag that a node resolves. */
export type BlockRef = number | (typeof tags)[number]

/** A log filter whose range of blocks can be split. */
export interface LogFilter {
  readonly from: BlockRef
  readonly to: BlockRef
  /** Creates the params for a part of the range. Everything else stays as the caller spelled it. */
  readonly toParams: (range: BlockRange) => string
}

/**
 * Parses the params of `eth_getLogs`.
 * @param params - Source text.
 * @returns `undefined` if the range cannot be split: a single block, the pending block, or a filter that nodes might read differently.
 */
export const parseLogFilter = (params: string): LogFilter | undefined => {
  const item = scanItems(params, 0, 1)?.items[0]
  if (item === undefined) return undefined
  const members = parseMembers(params.slice(item.start, item.end))
  if (members === undefined || [...members.keys()].some(isAmbiguous)) return undefined
  const from = parseBlockRef(members.get('fromBlock'))
  const to = parseBlockRef(members.get('toBlock'))
  if (from === undefined || to === undefined || from === to) return undefined
  const others = [...members].filter(([name]) => name !== 'fromBlock' && name !== 'toBlock')
  const start = `${params.slice(0, item.start)}{${others.map(([name, value]) => `"${name}":${value},`).join('')}`
  const end = `}${params.slice(item.end)}`
  return {
    from,
    to,
    toParams: (range) => `${start}"fromBlock":"${toHex(range.from)}","toBlock":"${toHex(range.to)}"${end}`,
  }
}

const rangeNames: ReadonlySet<string> = new Set(['fromblock', 'toblock', 'blockhash'])

/** Whether a member is a block hash, or one that only some nodes read as the range: Go's decoder ignores case. */
const isAmbiguous = (name: string): boolean =>
  name !== 'fromBlock' && name !== 'toBlock' && rangeNames.has(foldName(name))

/** A missing block means the latest one. */
const parseBlockRef = (source: string | undefined): BlockRef | undefined =>
  source === undefined ? 'latest' : (parseBlockNumber(source) ?? tags.find((tag) => source === `"${tag}"`))
