import { check, checkNames, checkObject } from '../failure/check.ts'
import { checkInteger } from '../failure/checkInteger.ts'
import { describeType } from '../failure/describeType.ts'
import { getSocket } from '../socket/rpcSocket.ts'
import { checkCallOptions } from '../transport/call/checkCallOptions.ts'
import type { Transport } from '../transport/transport.ts'
import { catchUpLogs } from './catchUp.ts'
import { createChainPoller } from './chainPoller.ts'
import { createChainSource } from './chainSource.ts'
import { followChain } from './followChain.ts'
import { parseCursor } from './parseCursor.ts'
import { followPendingTransactions } from './pendingTransactions.ts'
import { createPollSchedule } from './pollSchedule.ts'
import { createRecentChain } from './recentChain.ts'
import { createRecovery } from './recovery.ts'
import { runAbortable } from './runAbortable.ts'
import type { Subscription, SubscriptionEvent, SubscriptionOptions, SubscriptionRequest } from './subscription.ts'

const optionNames: readonly (keyof SubscriptionOptions)[] = [
  'cursor',
  'fromBlock',
  'reorgDepth',
  'pollingIntervalMs',
  'onError',
  'signal',
  'timeoutMs',
  'retries',
  'priority',
  'minBlock',
]
const tags: readonly unknown[] = ['latest', 'safe', 'finalized', 'earliest']

/**
 * Subscribes to new blocks, to logs, or to transactions that enter the pool.
 *
 * Apply the events of blocks and logs in order, and undo what a `reorg` event replaces: the result is exactly the canonical chain of the node,
 * each block and each log once, through reorganizations, failures and reconnects. Store the cursor together with your results, and the same
 * holds across restarts.
 *
 * Retryable failures do not end the subscription. No more events are read while your loop processes one. Leaving the loop ends the subscription
 * at once.
 *
 * @param transport - Sends the calls.
 * @param request - What to subscribe to.
 * @param options - Where to start, and how to poll.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, at once; a failure that is not retryable, such as `auth`; `range` for a block
 *   with more logs than the node returns; `badResponse` for a reorganization deeper than `reorgDepth`.
 * @throws The signal's own reason if you abort it.
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545' })
 * const subscription = createSubscription(transport, { logs: { address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48' } })
 * for await (const event of subscription) {
 *   if (event.type === 'log') console.log('new', event.log.transactionHash, subscription.cursor())
 *   else for (const log of event.removed) console.log('removed', log.transactionHash)
 * }
 */
export function createSubscription<const R extends SubscriptionRequest>(
  transport: Transport,
  request: R,
  options: SubscriptionOptions = {},
): Subscription<SubscriptionEvent<R>> {
  const wanted: SubscriptionRequest = request
  checkRequest(wanted)
  checkOptions(options, 'pending' in wanted)
  const { cursor, fromBlock, reorgDepth = 64, pollingIntervalMs, onError, ...calls } = options
  const chain = createRecentChain(reorgDepth, parseCursor(cursor))
  if (fromBlock !== undefined && typeof fromBlock !== 'string' && chain.next() === undefined)
    chain.first = Number(fromBlock)

  const events = runAbortable<SubscriptionEvent>(options.signal, (signal) => {
    const callOptions = { priority: 'poll', ...calls, signal } as const
    const schedule = createPollSchedule({ fixedMs: pollingIntervalMs })
    const socket = getSocket(transport)
    if ('pending' in wanted) {
      const recovery = createRecovery(schedule, signal, onError)
      const socketRecovery = createRecovery(schedule, signal, onError)
      const pending = { transport, recovery, socketRecovery, callOptions, intervalMs: pollingIntervalMs }
      return followPendingTransactions(pending, socket)
    }
    const source = createChainSource(transport.request, wanted, callOptions)
    const { logs } = source
    const catchUp = logs && ((to: number) => catchUpLogs({ transport, chain, logs, callOptions }, to))
    const poll = createChainPoller({ chain, source, schedule, reorgDepth, fromBlock, catchUp })
    const events = followChain({ chain, source, poll, schedule, socket, signal, reorgDepth, options })
    return events as AsyncGenerator<SubscriptionEvent, void, undefined>
  })
  return Object.assign(events, { cursor: chain.toCursor }) as Subscription<SubscriptionEvent<R>>
}

function checkRequest(request: SubscriptionRequest): void {
  const example = '{ blocks: true }, { logs: {} } or { pending: true }'
  checkObject('a subscription', request, example)
  const names = Object.keys(request)
  check(
    names.length === 1 && ['blocks', 'logs', 'pending'].includes(names[0] as string),
    `a subscription takes ${example}`,
  )
  if ('pending' in request)
    return check(request.pending === true, `pending must be true, not ${describeType(request.pending)}`)
  if ('logs' in request) return checkNames('logs', request.logs, ['address', 'topics'])
  const { blocks } = request
  check(
    blocks === true ||
      ['hashes', 'full'].includes((Object(blocks) as { transactions?: string }).transactions as string),
    `blocks must be true, { transactions: 'hashes' } or { transactions: 'full' }`,
  )
}

function checkOptions(options: SubscriptionOptions, pending: boolean): void {
  checkNames('subscribe', options, optionNames)
  const { cursor, fromBlock, pollingIntervalMs, reorgDepth, onError, ...calls } = options
  checkCallOptions(calls)
  check(
    !pending || (cursor === undefined && fromBlock === undefined),
    'cursor and fromBlock are for blocks and logs only',
  )
  check(
    fromBlock === undefined ||
      tags.includes(fromBlock) ||
      (typeof fromBlock === 'bigint' && fromBlock >= 0n && fromBlock < 2n ** 53n) ||
      (Number.isSafeInteger(fromBlock) && (fromBlock as number) >= 0),
    'fromBlock must be a block number, or one of latest, safe, finalized and earliest',
  )
  checkInteger('pollingIntervalMs', pollingIntervalMs, 10, 2 ** 31 - 1)
  checkInteger('reorgDepth', reorgDepth, 1, 1_024)
  check(
    onError === undefined || typeof onError === 'function',
    `onError must be a function, not ${describeType(onError)}`,
  )
}
