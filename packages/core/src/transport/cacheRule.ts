import { areByName } from './writeParams.ts'

/** Tells whether an answer will never change, where `finalBlock` is the highest block known to be final when it was asked for. */
export type Keeps = (value: unknown, finalBlock: number) => boolean

/** Methods that ask about one block, and the place of that block among the params. */
const blockPlace: Readonly<Record<string, number>> = {
  eth_getBlockByHash: 0,
  eth_getBlockByNumber: 0,
  eth_getHeaderByHash: 0,
  eth_getHeaderByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByHash: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getTransactionByBlockHashAndIndex: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getUncleByBlockHashAndIndex: 0,
  eth_getUncleByBlockNumberAndIndex: 0,
  eth_getUncleCountByBlockHash: 0,
  eth_getUncleCountByBlockNumber: 0,
  eth_getLogs: 0,
  debug_traceBlockByHash: 0,
  debug_traceBlockByNumber: 0,
  trace_block: 0,
  trace_replayBlockTransactions: 0,
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
}

/** Methods that ask about one transaction, by hash, and answer with the block it is in. */
const byTransaction: ReadonlySet<string> = new Set([
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'trace_transaction',
])

/** What never changes behind one transport. */
const ofTheChain: ReadonlySet<string> = new Set(['eth_chainId', 'net_version'])

const hash = /^0x[\da-f]{64}$/i

/** What an answer says of the place it belongs to. */
interface Placed {
  readonly blockHash?: unknown
  readonly blockNumber?: unknown
  readonly hash?: unknown
  readonly number?: unknown
  readonly transactionHash?: unknown
  readonly error?: unknown
}

/** The number of a block; NaN for what is none. Nodes write it as a hex quantity, traces as a number. */
export function blockNumber(value: unknown): number {
  return typeof value === 'number' || (typeof value === 'string' && /^0x[\da-f]{1,13}$/i.test(value))
    ? Number(value)
    : NaN
}

/** A tag, first or last among the params. It is where a block is named, for all methods that name one, but for those where it stands in an object. */
const tagFirst = /^\["[a-z]+"[,\]]/
const tagLast = /"[a-z]+"\]$/

/** Tells by a look at the params, as JSON text, that they name a block by tag: most calls do, and nothing of them is kept. */
export function namesTag(method: string, params: string): boolean {
  const place = blockPlace[method]
  return place === 0 ? tagFirst.test(params) : place !== undefined && tagLast.test(params)
}

/** Tells whether answers of this method can be immutable at all, and whether that holds beyond this transport. */
export function cacheKind(method: string): 'block' | 'transaction' | 'chain' | undefined {
  if (Object.hasOwn(blockPlace, method)) return 'block'
  return byTransaction.has(method) ? 'transaction' : ofTheChain.has(method) ? 'chain' : undefined
}

/**
 * The rule by which the answer to a call may be kept for ever; undefined where it may not, whatever it is. Never a tag: it moves. Never null
 * or an empty list: a node that has not got so far says the same.
 *
 * - A block by hash: at once. Of a block that was reorganised away it stays true. Not with `requireCanonical`: that may begin to fail.
 * - A block by number: where it was final before the call was made.
 * - A transaction by hash: where the block that it is in was.
 *
 * An answer that names another block or transaction than the one asked for is not kept. Neither is the result of a call with params by name.
 *
 * @see EIP-1898
 */
export function cacheRule(method: string, params: string): Keeps | undefined {
  if (areByName(params)) return undefined
  const kind = cacheKind(method)
  if (kind === 'chain') return (value) => typeof value === 'string'
  const asked = (JSON.parse(params) as unknown[])[blockPlace[method] ?? 0]
  if (kind === 'transaction')
    return (value, finalBlock) =>
      every(value, (item) => {
        const named = item.transactionHash ?? item.hash
        return same(named, asked) && blockNumber(item.blockNumber) <= finalBlock
      })
  const { blockHash, blockNumber: height, requireCanonical } = Object(asked) as Placed & { requireCanonical?: unknown }
  const block = blockHash ?? height ?? asked
  const byHash = hash.test(String(block))
  if (requireCanonical || (!byHash && Number.isNaN(blockNumber(block)))) return undefined
  // A filter has no such field, and a node that passes over it answers about the latest block.
  if (method === 'eth_getLogs' && !byHash) return undefined
  return (value, finalBlock) =>
    (byHash || blockNumber(block) <= finalBlock) &&
    every(value, (item) => {
      // A tracer that gave up says so in place of one transaction's trace.
      if (method.startsWith('debug_')) return !item.error
      // An uncle names itself, not the block it was asked by.
      if (method.startsWith('eth_getUncle')) return true
      const named = byHash ? (item.blockHash ?? item.hash) : (item.blockNumber ?? item.number)
      return named == null || (byHash ? same(named, block) : blockNumber(named) === blockNumber(block))
    })
}

const same = (a: unknown, b: unknown): boolean => String(a).toLowerCase() === String(b).toLowerCase()

/** Whether there is something, and all of it fits. */
const every = (value: unknown, fits: (item: Placed) => boolean): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((item) => fits(Object(item) as Placed))
    : value != null && fits(Object(value) as Placed)
