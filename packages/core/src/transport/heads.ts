import { now } from '../clock/now.ts'

/** What is known of the chain's head at one endpoint, from its answers. */
export interface Head {
  /** The number it last gave as its head, as far as it was not behind an earlier one; 0 before the first. */
  readonly number: number
  /** When it did, as `now()` counts. */
  readonly at: number
  /** The highest block it is known to hold: its head, or a block with a receipt. */
  readonly seen: number
}

/** Follows the heads of several endpoints by what they answer. Asks nothing. */
export interface Heads {
  readonly of: (endpoint: number) => Head
  /** The highest block that any of them is known to hold, save those that are left out. */
  readonly highest: () => number
  /** Learns from an answer. */
  readonly learn: (
    endpoint: number,
    call: { readonly method: string; readonly params: string },
    result: unknown,
  ) => void
  /** Forgets an endpoint for good: it is on another chain. */
  readonly drop: (endpoint: number) => void
}

/** After this time an endpoint that reports less than before is believed: its chain was reset, or it had told of a block that is none. */
const BELIEVED_MS = 60_000

/** Tells whether something is in the answers to a method that says how far the chain has come. Asked for each call, so it must be quick. */
export function tellsHead(method: string): boolean {
  return (
    method === 'eth_blockNumber' ||
    method === 'eth_getBlockByNumber' ||
    method === 'eth_getTransactionReceipt' ||
    method === 'eth_sendRawTransactionSync'
  )
}

/** A hex quantity as a number; 0 where it is none. */
export function blockNumber(value: unknown): number {
  const number = typeof value === 'string' && value.startsWith('0x') ? Number(value) : 0
  return Number.isSafeInteger(number) ? number : 0
}

/**
 * Begins to follow heads.
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
      const whole = method === 'eth_blockNumber'
      const { number, blockNumber: mined } = Object(result) as {
        readonly number?: unknown
        readonly blockNumber?: unknown
      }
      const told = blockNumber(whole ? result : (number ?? mined))
      // Of a block asked for by its number, and of a receipt, no more is known than that it is there.
      if (!whole && !(number !== undefined && params.startsWith('["latest"'))) {
        if (told > head.seen) head.seen = told
        return
      }
      const time = now()
      if (!told || (told < head.number && time - head.at < BELIEVED_MS)) return
      head.seen = told < head.number ? told : Math.max(head.seen, told)
      head.number = told
      head.at = time
    },
    drop: (endpoint) => Object.assign(at(endpoint), { number: 0, seen: 0 }),
  }
}
