import { createSubscription } from '@keyrail/core'
import { checkObject } from '@keyrail/core/internal'
import type {
  HeaderEvent,
  Hex,
  RpcBlock,
  Subscription,
  SubscriptionEvent,
  SubscriptionOptions,
  SubscriptionRequest,
  Transport,
} from '@keyrail/core'
import { getBoundOptions, getClientTransport } from '../client/clientTransport.ts'
import { decodeBlock } from '../decode/decodeBlock.ts'
import type { Block, BlockHeader } from '../decode/block.ts'
import { decodeHeader } from '../decode/decodeHeader.ts'
import { decodeHex } from '../decode/decodeHex.ts'
import { decodeLog } from '../decode/decodeLog.ts'
import type { Log } from '../decode/log.ts'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { decodeTransaction } from '../decode/decodeTransaction.ts'
import type { Transaction } from '../decode/transaction.ts'
import { encodeLogQuery } from '../logs/encodeLogQuery.ts'
import type { LogQuery } from '../logs/logQuery.ts'

/** The parts of a client that {@link subscribe} needs. */
export interface SubscribeClient {
  readonly redactedUrl: string
  readonly request: (args: never) => Promise<unknown>
}

/** The kind of subscription for {@link subscribe}. */
export type SubscribeRequest =
  /** New blocks: their headers, or whole blocks with the hashes of their transactions or with full transactions. */
  | { readonly blocks: true | { readonly transactions: 'hashes' | 'full' } }
  /** Logs of new blocks, by contract and topics. `{}` for all of them. */
  | { readonly logs: LogQuery }
  /** Hashes of transactions that enter the pool of a node. */
  | { readonly pending: true }

/** The newest blocks were replaced, or removed. What replaces them follows. */
export interface ReorgEvent<T> {
  readonly type: 'reorg'
  /** Undo what you have of the blocks above this one. */
  readonly ancestor: { readonly number: bigint; readonly hash: Hex }
  /**
   * The reported blocks or logs that are no longer in the chain, newest first; logs with `removed: true`. Empty if none of it matched, and without what an
   * earlier subscription reported, whose cursor was passed to this one.
   */
  readonly removed: readonly T[]
}

/** The events of {@link subscribe}, by its request. */
export type SubscribeEvent<R extends SubscribeRequest = SubscribeRequest> = R extends { readonly pending: true }
  ? { readonly type: 'transaction'; readonly hash: Hex }
  : R extends { readonly logs: LogQuery }
    ? { readonly type: 'log'; readonly log: Log } | ReorgEvent<Log>
    : { readonly type: 'block'; readonly block: ReportedBlock<R> } | ReorgEvent<BlockHeader>

/** The block of an event, as much of it as was requested. */
type ReportedBlock<R> = R extends { readonly blocks: { readonly transactions: infer Transactions } }
  ? Transactions extends 'full'
    ? Block<Transaction>
    : Block
  : BlockHeader

/**
 * Subscribes to new blocks, to logs, or to transactions that enter the pool, and decodes them.
 *
 * Apply the events of blocks and logs in order, and undo what a `reorg` event replaces: the result is exactly the canonical chain of the node,
 * each block and each log once, through reorganizations, failures and reconnects. Store the cursor together with your results, and the same
 * holds across restarts.
 *
 * Retryable failures do not end the subscription. No more events are read while your loop processes one. Leaving the loop ends the subscription
 * at once. A signal that is bound to the client is replaced by `signal`.
 *
 * @param client - A client.
 * @param request - What to subscribe to.
 * @param options - Where to start, how to poll, and call options that apply to each call.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that is not retryable, such as `auth`; `range` for a block
 *   with more logs than the node returns; `badResponse` for a malformed response or a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason if you abort it.
 * @example
 * const events = subscribe(client, { logs: { address: account } }, { fromBlock: 21_000_000n })
 * for await (const event of events) {
 *   if (event.type === 'log') console.log('new', event.log.transactionHash, events.cursor())
 *   else for (const log of event.removed) console.log('removed', log.transactionHash)
 * }
 */
export function subscribe<const R extends SubscribeRequest>(
  client: SubscribeClient,
  request: R,
  options: SubscriptionOptions = {},
): Subscription<SubscribeEvent<R>> {
  checkObject('subscribe', request, 'what to subscribe to, such as { blocks: true }')
  checkObject('subscribe', options)
  const { signal: _, ...bound } = getBoundOptions(client)
  // Core rejects unknown names.
  const wire: SubscriptionRequest =
    'logs' in request
      ? { ...request, logs: { ...request.logs, ...encodeLogQuery(Object(request.logs) as LogQuery) } }
      : (request as SubscriptionRequest)
  const events = createSubscription(getClientTransport(client) as Transport, wire, { ...bound, ...options })
  const next = async (): Promise<IteratorResult<SubscribeEvent, void>> => {
    const step = await events.next()
    if (step.done) return step
    try {
      return { done: false, value: decodeEvent(step.value) }
    } catch (error) {
      await events.return()
      throw error
    }
  }
  const decoded = { ...events, next, [Symbol.asyncIterator]: () => decoded } as Subscription<SubscribeEvent<R>>
  return decoded
}

function decodeEvent(event: SubscriptionEvent): SubscribeEvent {
  switch (event.type) {
    case 'block':
      return { type: 'block', block: decodeReportedBlock(event) }
    case 'log':
      return { type: 'log', log: decodeLog(event.log) }
    case 'transaction':
      return { type: 'transaction', hash: decodeHex(event.hash, 'transaction', 32) }
    case 'reorg': {
      const { number, hash } = event.ancestor
      const ancestor = { number: decodeQuantity(number, 'ancestor.number'), hash }
      // All of one kind: headers, or logs.
      const removed = event.removed.map((one) => ('logIndex' in one ? decodeLog(one) : decodeHeader(one)))
      return { type: 'reorg', ancestor, removed } as ReorgEvent<Log> | ReorgEvent<BlockHeader>
    }
  }
}

function decodeReportedBlock(
  event: HeaderEvent & { readonly block?: RpcBlock },
): BlockHeader | Block | Block<Transaction> {
  const { header, block } = event
  if (!block) return decodeHeader(header)
  return typeof block.transactions[0] === 'object' ? decodeBlock(block, decodeTransaction) : decodeBlock(block)
}
