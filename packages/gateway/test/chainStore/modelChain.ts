import type { LogFilter, LogQuery } from '../../src/storage/chainStore/logQuery.ts'

/** A log of a model chain. */
export interface ModelLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** A block of a model chain. */
export interface ModelBlock {
  readonly number: number
  readonly hash: string
  readonly logs: readonly ModelLog[]
}

/** A chain that a test changes, and what a node responds about it. */
export interface ModelChain {
  readonly blocks: readonly ModelBlock[]
  readonly mine: (logs: readonly ModelLog[]) => void
  /** Removes the newest blocks. */
  readonly rollBack: (count: number) => void
  /** The result of `eth_getLogs`, as geth computes it. */
  readonly getLogs: (query: LogQuery, style?: LogStyle) => string
  readonly getBlock: (number: number) => string
}

/** How a node writes a log. `timestamps`: with a member that others do not have, in another order. */
export type LogStyle = 'plain' | 'timestamps'

/** A word of 32 bytes. */
export const toWord = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

/** An address. */
export const toAddress = (value: number): string => `0x${value.toString(16).padStart(40, '0')}`

const toHex = (value: number): string => `0x${value.toString(16)}`

/** Whether a log matches a filter, as geth decides it. @see go-ethereum, eth/filters/filter.go, includes */
export const matches = ({ addresses, topics }: LogFilter, log: ModelLog): boolean =>
  (addresses[0] === '*' || addresses.includes(log.address)) &&
  topics.length <= log.topics.length &&
  topics.every((allowed, at) => allowed === null || allowed.includes(log.topics[at] ?? ''))

const writeLog = (block: ModelBlock, index: number, style: LogStyle): string => {
  const { address, topics, data } = block.logs[index] as ModelLog
  const place = { blockNumber: toHex(block.number), blockHash: block.hash, logIndex: toHex(index), removed: false }
  return JSON.stringify(
    style === 'plain'
      ? { address, topics, data, ...place }
      : { ...place, blockTimestamp: toHex(block.number * 12), address, topics, data },
  )
}

/** Creates a chain of one empty block. */
export const createModelChain = (): ModelChain => {
  const blocks: ModelBlock[] = []
  let hashes = 0
  const mine = (logs: readonly ModelLog[]): void => {
    hashes += 1
    blocks.push({ number: blocks.length, hash: toWord(hashes), logs })
  }
  mine([])
  return {
    blocks,
    mine,
    rollBack: (count) => void blocks.splice(blocks.length - count),
    getLogs: (query, style = 'plain') => {
      const texts: string[] = []
      for (const block of blocks.slice(query.first, query.last + 1))
        for (const [index, log] of block.logs.entries())
          if (matches(query, log)) texts.push(writeLog(block, index, style))
      return `[${texts.join(',')}]`
    },
    getBlock: (number) => {
      const block = blocks[number]
      return block === undefined ? 'null' : JSON.stringify({ number: toHex(number), hash: block.hash })
    },
  }
}
