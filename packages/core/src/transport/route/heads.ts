import { now } from '../../clock/now.ts'
import { toMethodMap } from '../../schema/methodGroups.ts'
import { headMethods } from '../../schema/methodSlice.ts'

/** A head that an endpoint reported less than this many milliseconds ago counts as its current head. */
export const FRESH_HEAD_MS = 1_000

/** The request that returns the head. */
export const headRequest = { method: 'eth_blockNumber', params: '[]' }

/** The head of the chain at one endpoint, learned from its responses. */
export interface Head {
  /** The block number that the endpoint last reported as its head. A lower number than before is ignored at first. 0 before the first. */
  readonly number: number
  /** When it reported that number, as `now()` counts. */
  readonly at: number
  /** The highest block that the endpoint is known to hold: its head, or a block with a receipt. */
  readonly seen: number
}

/** Follows the heads of several endpoints by their responses. Sends no requests. */
export interface Heads {
  readonly of: (endpoint: number) => Head
  /** The highest block that any endpoint is known to hold, except endpoints that were dropped. */
  readonly highest: () => number
  /** Learns from the result of a call. */
  readonly learn: (
    endpoint: number,
    call: { readonly method: string; readonly params: string },
    result: unknown,
  ) => void
  /** Forgets the head of an endpoint that is on another chain. */
  readonly drop: (endpoint: number) => void
}

/** After this time a lower number than before is believed: the chain was reset, or the earlier number was wrong. */
const BELIEVED_MS = 60_000

const reporting = /* @__PURE__ */ toMethodMap(headMethods)

/** Checks whether the result of a method contains a block number from which the head can be learned. It runs for each call, so it is quick. */
export const reportsHead = (method: string): boolean => reporting.has(method)

/** Parses a hex quantity. Returns 0 for any other value. */
export function blockNumber(value: unknown): number {
  const number = typeof value === 'string' && value.startsWith('0x') ? Number(value) : 0
  return Number.isSafeInteger(number) ? number : 0
}

/**
 * Creates an empty record of heads.
 *
 * @param count - How many endpoints there are.
 * @example
 * const heads = createHeads(2)
 * heads.learn(1, { method: 'eth_blockNumber', params: '[]' }, '0x10')
 * heads.highest() // 16
 */
export function createHeads(count: number): Heads {
  const heads = Array.from({ length: count }, () => ({ number: 0, at: -Infinity, seen: 0 }))
  const at = (endpoint: number): (typeof heads)[number] => heads[endpoint] as (typeof heads)[number]
  return {
    of: at,
    highest: () => heads.reduce((most, { seen }) => Math.max(most, seen), 0),
    learn: (endpoint, { method, params }, result) => {
      const head = at(endpoint)
      const isNumber = method === 'eth_blockNumber'
      const { number, blockNumber: mined } = Object(result) as {
        readonly number?: unknown
        readonly blockNumber?: unknown
      }
      const reported = blockNumber(isNumber ? result : (number ?? mined))
      // A block that was requested by its number, or a receipt, shows only that this block exists.
      if (!isNumber && !(number !== undefined && params.startsWith('["latest"'))) {
        if (reported > head.seen) head.seen = reported
        return
      }
      const time = now()
      if (!reported || (reported < head.number && time - head.at < BELIEVED_MS)) return
      head.seen = reported < head.number ? reported : Math.max(head.seen, reported)
      head.number = reported
      head.at = time
    },
    drop: (endpoint) => Object.assign(at(endpoint), { number: 0, seen: 0 }),
  }
}
