import { createHash } from 'node:crypto'
import type { ItemOf } from './respondWith.ts'

/** A minimal chain: only its block hashes are consistent. */
export interface TinyChain {
  head: number
  /** Replaces the latest blocks with others of the same heights. */
  readonly fork: (depth: number) => void
  readonly hashOf: (number: number) => string
  /** The responses of a node that is a number of blocks behind. For `respondWith` and other functions that take an `ItemOf`. */
  readonly seenFrom: (behind: number) => ItemOf
  /** The responses of several nodes behind one URL. Each request reaches the next one; the arguments say how far each is behind. */
  readonly seenFromOneOf: (...behind: number[]) => ItemOf
}

const hex = (number: number): string => `0x${number.toString(16)}`

/** Creates a chain that returns the head, blocks by number and hash, and balances, each equal to its block number. */
export function createTinyChain(head = 100, finalDepth = 32): TinyChain {
  /** The numbers of the fork blocks, the latest last. */
  const forks: number[] = []
  const branchOf = (number: number): number => forks.filter((from) => number >= from).length
  const hashOf = (number: number): string =>
    `0x${createHash('sha256')
      .update(`${number}/${branchOf(number)}`)
      .digest('hex')}`
  const blockOf = (number: number): object => ({
    number: hex(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    transactions: [],
  })
  const seenFrom =
    (behind: number): ItemOf =>
    ({ method, params }) => {
      const top = chain.head - behind
      const numberOf = (tag: unknown): number =>
        tag === 'finalized' ? top - finalDepth : tag === 'latest' ? top : Number(tag)
      if (method === 'eth_blockNumber') return { result: hex(top) }
      if (method === 'eth_getBlockByNumber') {
        const number = numberOf(params[0])
        return { result: number > top ? null : blockOf(number) }
      }
      if (method === 'eth_getBlockByHash') {
        const number = Array.from({ length: top + 1 }, (_, at) => at).find((at) => hashOf(at) === params[0])
        return { result: number === undefined ? null : blockOf(number) }
      }
      const number = numberOf(params[1])
      return number > top ? { error: { code: -32000, message: 'header not found' } } : { result: hex(number) }
    }
  let turn = 0
  const chain: TinyChain = {
    head,
    fork: (depth) => forks.push(chain.head - depth + 1),
    hashOf,
    seenFrom,
    seenFromOneOf: (...behind) => {
      const views = behind.map(seenFrom)
      return (call) => (views[turn++ % views.length] as ItemOf)(call)
    },
  }
  return chain
}
