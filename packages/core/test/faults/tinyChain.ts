import { createHash } from 'node:crypto'
import type { GetItem } from './respondWith.ts'

/** A minimal chain: only its block hashes are consistent. */
export interface TinyChain {
  head: number
  /** Replaces the latest blocks with others of the same heights. */
  readonly fork: (depth: number) => void
  readonly toHash: (number: number) => string
  /** The responses of a node that is a number of blocks behind. For `respondWith` and other functions that take a `GetItem`. */
  readonly seenFrom: (behind: number) => GetItem
  /** The responses of several nodes behind one URL. Each request reaches the next one; the arguments say how far each is behind. */
  readonly seenInTurnFrom: (...behind: number[]) => GetItem
}

const hex = (number: number): string => `0x${number.toString(16)}`

/** Creates a chain that returns the head, blocks by number and hash, and balances, each equal to its block number. */
export function createTinyChain(head = 100, finalDepth = 32): TinyChain {
  /** The numbers of the fork blocks, the latest last. */
  const forks: number[] = []
  const getBranch = (number: number): number => forks.filter((from) => number >= from).length
  const toHash = (number: number): string =>
    `0x${createHash('sha256')
      .update(`${number}/${getBranch(number)}`)
      .digest('hex')}`
  const getBlock = (number: number): object => ({
    number: hex(number),
    hash: toHash(number),
    parentHash: toHash(number - 1),
    transactions: [],
  })
  const seenFrom =
    (behind: number): GetItem =>
    ({ method, params }) => {
      const top = chain.head - behind
      const toNumber = (tag: unknown): number =>
        tag === 'finalized' ? top - finalDepth : tag === 'latest' ? top : Number(tag)
      if (method === 'eth_blockNumber') return { result: hex(top) }
      if (method === 'eth_getBlockByNumber') {
        const number = toNumber(params[0])
        return { result: number > top ? null : getBlock(number) }
      }
      if (method === 'eth_getBlockByHash') {
        const number = Array.from({ length: top + 1 }, (_, at) => at).find((at) => toHash(at) === params[0])
        return { result: number === undefined ? null : getBlock(number) }
      }
      const number = toNumber(params[1])
      return number > top ? { error: { code: -32000, message: 'header not found' } } : { result: hex(number) }
    }
  let turn = 0
  const chain: TinyChain = {
    head,
    fork: (depth) => forks.push(chain.head - depth + 1),
    toHash,
    seenFrom,
    seenInTurnFrom: (...behind) => {
      const views = behind.map(seenFrom)
      return (call) => (views[turn++ % views.length] as GetItem)(call)
    },
  }
  return chain
}
