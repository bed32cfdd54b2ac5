import { createHash } from 'node:crypto'
import type { Rejection } from '../../../errors/rejection.ts'
import type { ChainCursor } from '../followedChain.ts'
import type { SubscriptionLimits } from '../subscriptionHub.ts'
import { parseSubscriptionFilter } from './parseSubscriptionFilter.ts'
import { isObject, quote, RequestProblem } from './requestProblem.ts'
import { subscriptionRejections } from './subscriptionRejections.ts'
import type { SubscriptionFilter, SubscriptionRequest } from './subscriptionRequest.ts'

const kinds = 'newHeads, logs, newPendingTransactions or syncing'
const maxHashes = 256
const quantity = /^0x(?:0|[1-9a-f][0-9a-f]*)$/i
const blockHash = /^0x[0-9a-f]{64}$/i

/**
 * Parses the params of `eth_subscribe`, as geth does, with one parameter more: the cursor.
 * @param params - The source text, which is valid JSON; `undefined` if the call has none.
 * @returns The request; or a rejection that says how to fix it.
 * @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub
 */
export const parseSubscription = (
  params: string | undefined,
  limits: Pick<SubscriptionLimits, 'maxAddresses' | 'maxTopics' | 'fullTransactions'>,
): SubscriptionRequest | Rejection => {
  try {
    return parse(params === undefined ? [] : JSON.parse(params), limits)
  } catch (error) {
    if (error instanceof RequestProblem) return subscriptionRejections.invalidParams(error.message)
    throw error
  }
}

const parse = (
  params: unknown,
  limits: Pick<SubscriptionLimits, 'maxAddresses' | 'maxTopics' | 'fullTransactions'>,
): SubscriptionRequest => {
  if (!Array.isArray(params)) throw new RequestProblem(`use a list, such as ["newHeads"]`)
  const [kind, ...rest] = params as unknown[]
  switch (kind) {
    case 'newHeads': {
      const cursor = parseCursorOption(rest, 'newHeads')
      return { kind, key: toKey(kind, cursor), cursor }
    }
    case 'logs': {
      const [given, ...options] = rest
      const filter = parseSubscriptionFilter(given, limits)
      const cursor = parseCursorOption(options, 'logs')
      return { kind, key: toKey(kind, cursor, filter), filter, cursor }
    }
    case 'newPendingTransactions': {
      const [full = false, ...extra] = rest
      if (extra.length > 0 || (full !== null && typeof full !== 'boolean'))
        throw new RequestProblem(
          'newPendingTransactions accepts only true, for whole transactions, or false, for hashes',
        )
      if (full === true && !limits.fullTransactions)
        throw new RequestProblem(
          'this service does not deliver whole pending transactions: use ["newPendingTransactions"], and eth_getTransactionByHash for those that you need',
        )
      return { kind, key: full === true ? `${kind},full` : kind, full: full === true }
    }
    case 'syncing':
      if (rest.length > 0) throw new RequestProblem('syncing accepts no more parameters: use ["syncing"]')
      return { kind, key: kind }
    case undefined:
      throw new RequestProblem(`the first parameter is missing: use ${kinds}`)
    default:
      throw new RequestProblem(`unknown subscription ${quote(kind)}: use ${kinds}`)
  }
}

/** A filter may have a thousand addresses, so the key is a digest. */
const toKey = (kind: string, cursor: ChainCursor | null | undefined, filter?: SubscriptionFilter): string => {
  const mode = cursor === undefined ? kind : `${kind},cursor`
  if (filter === undefined) return mode
  const digest = createHash('sha256').update(JSON.stringify([filter.addresses, filter.topics]))
  return `${mode},${digest.digest('base64')}`
}

const parseCursorOption = (options: readonly unknown[], kind: string): ChainCursor | null | undefined => {
  if (options.length === 0) return undefined
  const [option] = options
  if (options.length > 1 || !isObject(option) || Object.keys(option).join() !== 'cursor')
    throw new RequestProblem(`after ${kind === 'logs' ? 'the filter' : kind} only { "cursor": … } may follow`)
  return parseCursor(option['cursor'])
}

const parseCursor = (cursor: unknown): ChainCursor | null => {
  if (cursor === null) return null
  if (!isObject(cursor)) throw new RequestProblem('"cursor" must be null or { "number": "0x…", "hashes": ["0x…"] }')
  const { number, hashes } = cursor
  if (typeof number !== 'string' || !quantity.test(number) || !Number.isSafeInteger(Number(number)))
    throw new RequestProblem('"cursor.number" must be the number of a block, such as "0x10"')
  if (!Array.isArray(hashes) || hashes.length === 0 || hashes.length > maxHashes)
    throw new RequestProblem(`"cursor.hashes" must be a list of 1 to ${maxHashes} block hashes, newest first`)
  return {
    number: Number(number),
    hashes: hashes.map((hash: unknown, index) => {
      if (typeof hash === 'string' && blockHash.test(hash)) return hash.toLowerCase()
      throw new RequestProblem(`"cursor.hashes[${index}]" must be a block hash, "0x" and 64 hex digits`)
    }),
  }
}

/** What the entry of a subscription takes in the hub and in the index, roughly. Measured: 1.3 kB. */
const entryBytes = 1_536
/** An address, as a string and in a list. */
const addressBytes = 80
/** A topic or the hash of a block. */
const wordBytes = 104
/** An entry of the index: a filter has one for each value of its shortest list. */
const indexedBytes = 264

/** How many bytes of memory a subscription takes, at most. */
export const getSubscriptionBytes = (request: SubscriptionRequest): number => {
  let bytes = entryBytes
  if ('cursor' in request && request.cursor) bytes += request.cursor.hashes.length * wordBytes
  if (request.kind !== 'logs') return bytes
  const { addresses, topics } = request.filter
  let fewest = Infinity
  for (const values of [addresses, ...topics]) if (values.length > 0) fewest = Math.min(fewest, values.length)
  bytes += addresses.length * addressBytes + (fewest === Infinity ? 1 : fewest) * indexedBytes
  for (const values of topics) bytes += values.length * wordBytes
  return bytes
}
