import { createHash } from 'node:crypto'
import type { ItemOf } from './answering.ts'

/** A chain that is only as real as its blocks' hashes. */
export interface TinyChain {
  head: number
  /** Replaces the last so many blocks by others of the same heights. */
  readonly fork: (depth: number) => void
  readonly hashOf: (number: number) => string
  /** The chain as a node shows it that is so many blocks behind. For `answering` and whatever else takes an `ItemOf`. */
  readonly seenFrom: (behind: number) => ItemOf
  /** As several nodes behind one address show it: each request meets the next of them, by how far it is behind. */
  readonly seenFromOneOf: (...behind: number[]) => ItemOf
}

const hex = (number: number): string => `0x${number.toString(16)}`

/** Makes one. It answers the head, blocks by number and by hash, and balances, which are the number of the block they are of. */
export function createTinyChain(head = 100, finalDepth = 32): TinyChain {
  /** Where branches began, the latest last. */
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
