import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'

/** The place and the unique hashes of a log. */
export interface LogPlace {
  readonly block: number
  readonly index: number
  readonly blockHash: string
  readonly transactionHash: string
}

/** A chain of logs that is computed on demand, so that its size costs nothing. */
export interface LogsChain {
  /** The number of the latest block. */
  head: number
  readonly chainId: number
  /** Replaces the blocks from this one on. */
  readonly fork: (from: number) => void
  /** Generates every log of a range, in order. */
  readonly places: (from: number, to: number) => Generator<LogPlace, void, undefined>
  readonly countLogs: (from: number, to: number) => number
  /** Handles calls. For `respondWith` and other faults that take a `GetItem`. */
  readonly getItem: GetItem
}

/** The number of logs per block, repeating: five on average. */
const logsPerBlock = [0, 10, 3, 7, 5]
const countBlockLogs = (block: number): number => logsPerBlock[block % logsPerBlock.length] as number

/** The contracts and events of the logs, alternating. */
export const contracts = [`0x${'c0'.repeat(20)}`, `0x${'c1'.repeat(20)}`] as const
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const approvalTopic = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
export const holder = `0x${'ab'.repeat(20)}`

const hex = (value: number): string => `0x${value.toString(16)}`
const word = (value: number | string): string =>
  `0x${(typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`

interface Filter {
  readonly fromBlock: string
  readonly toBlock: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

/**
 * Creates a chain of logs.
 *
 * @param head - The number of the latest block.
 * @param chainId - The chain id.
 */
export function createLogsChain(head: number, chainId = 0x7465_7374): LogsChain {
  /** The first blocks of forks, the latest last. */
  const forks: number[] = []
  const countForks = (block: number): number => forks.filter((from) => block >= from).length
  const getHash = (block: number): string => word(`0x${countForks(block)}b${block.toString(16).padStart(12, '0')}`)

  function* places(from: number, to: number): Generator<LogPlace, void, undefined> {
    for (let block = from; block <= to; block++) {
      const blockHash = getHash(block)
      for (let index = 0; index < countBlockLogs(block); index++) {
        const transactionHash = word(`0x${countForks(block)}f${((block << 8) | index).toString(16).padStart(12, '0')}`)
        yield { block, index, blockHash, transactionHash }
      }
    }
  }
  const createLog = ({ block, index, blockHash, transactionHash }: LogPlace): Record<string, unknown> => ({
    address: contracts[index % 2],
    topics: [index % 2 === 0 ? transferTopic : approvalTopic, word(holder), word(index)],
    data: word(block * 16 + index),
    blockHash,
    blockNumber: hex(block),
    blockTimestamp: hex(1_700_000_000 + block * 12),
    transactionHash,
    transactionIndex: hex(index),
    logIndex: hex(index),
    removed: false,
  })
  const matches = (log: Record<string, unknown>, { address, topics = [] }: Filter): boolean =>
    (address === undefined || [address].flat().includes(log['address'] as string)) &&
    topics.every((topic, at) => topic === null || [topic].flat().includes((log['topics'] as string[])[at] as string))
  const toNumber = (tag: unknown): number =>
    tag === 'latest' ? chain.head : tag === 'earliest' ? 0 : Number.isNaN(Number(tag)) ? chain.head - 64 : Number(tag)

  const chain: LogsChain = {
    head,
    chainId,
    fork: (from) => forks.push(from),
    places,
    countLogs: (from, to) => {
      let count = 0
      for (let block = from; block <= to; block++) count += countBlockLogs(block)
      return count
    },
    getItem: ({ method, params }) => {
      switch (method) {
        case 'eth_chainId':
          return { result: hex(chainId) }
        case 'eth_blockNumber':
          return { result: hex(chain.head) }
        case 'eth_getBlockByNumber': {
          const number = toNumber(params[0])
          return { result: number > chain.head ? null : { number: hex(number), hash: getHash(number) } }
        }
        case 'eth_getLogs': {
          const filter = params[0] as Filter
          const found: object[] = []
          for (const place of places(Number(filter.fromBlock), Math.min(Number(filter.toBlock), chain.head))) {
            const log = createLog(place)
            if (matches(log, filter)) found.push(log)
          }
          return { result: found }
        }
        default:
          return { error: { code: -32_601, message: `the method ${method} does not exist` } }
      }
    },
  }
  return chain
}
