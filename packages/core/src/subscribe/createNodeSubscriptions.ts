import { pause } from '../clock/pause.ts'
import { invalidRequest } from '../failure/check.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { LogFilterFields } from '../schema/log.ts'
import type { Transport } from '../transport/transport.ts'
import { missingBlock, parseBlock } from './chainBlock.ts'
import { createProviderSubscriptions } from './createProviderSubscriptions.ts'
import { createSubscription } from './createSubscription.ts'
import { createSubscriber } from './createSubscriber.ts'
import { createWatcherSubscriptions } from './createWatcherSubscriptions.ts'
import { followHeads } from './followHeads.ts'
import type { NodeSubscriptionListener, NodeSubscriptions, ReadBlock } from './getNodeSubscriptions.ts'
import { createRecentChain } from './recentChain.ts'

/** How often `eth_syncing` is called. */
const syncingIntervalMs = 10_000
/** The delay before the head is read again after a failure. */
const headRetryMs = 1_000
const reorgDepth = 64

type Report = (result: unknown, readBlock?: ReadBlock) => Promise<void>
type Run = (signal: AbortSignal, report: Report) => Promise<void>

/** Creates the subscriptions of a transport. */
export function createNodeSubscriptions(transport: Transport): NodeSubscriptions {
  const open = new Map<unknown, AbortController>()
  let created = 0

  /** Returns the position after the head. Undefined after a retryable failure. */
  const readHead = async (signal?: AbortSignal): Promise<string | undefined> => {
    try {
      const value = await transport.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }, { signal })
      if (value === null) throw missingBlock('latest')
      const head = parseBlock(value)
      const first = head.number + 1
      return createRecentChain(reorgDepth, { first, complete: true, blocks: [{ ...head, reported: [] }] }).toCursor()
    } catch (error) {
      return ignoreRetryable(error)
    }
  }
  const waitForHead = async (signal: AbortSignal): Promise<string> => {
    for (;;) {
      await pause(headRetryMs, signal)
      const cursor = await readHead(signal)
      if (cursor !== undefined) return cursor
    }
  }

  const prepareHeads = async (): Promise<Run> => {
    const head = await readHead()
    return async (signal, report) => {
      const cursor = head ?? (await waitForHead(signal))
      await followHeads(transport, { cursor, reorgDepth, signal }, report)
    }
  }
  const prepareLogs = async ({ address, topics }: LogFilterFields): Promise<Run> => {
    const head = await readHead()
    return async (signal, report) => {
      const cursor = head ?? (await waitForHead(signal))
      const logs = createSubscription(transport, { logs: { address, topics } }, { cursor, reorgDepth, signal })
      for await (const event of logs)
        for (const log of event.type === 'log' ? [event.log] : event.removed) await report(log)
    }
  }
  const followTransactions =
    (whole: boolean): Run =>
    async (signal, report) => {
      for await (const { hash } of createSubscription(transport, { pending: true }, { signal })) {
        const result = whole
          ? await transport
              .request({ method: 'eth_getTransactionByHash', params: [hash] }, { signal })
              .catch(ignoreRetryable)
          : hash
        // It may have left the pool already.
        if (result) await report(result)
      }
    }
  const followSyncing: Run = async (signal, report) => {
    let last = 'false'
    for (;;) {
      const result = await transport.request({ method: 'eth_syncing', params: [] }, { signal }).catch(ignoreRetryable)
      const text = JSON.stringify(result) ?? last
      if (text !== last) await report(result)
      last = text
      await pause(syncingIntervalMs, signal)
    }
  }

  const prepare = async ([kind, options]: readonly unknown[]): Promise<Run> => {
    if (kind === 'newHeads') return prepareHeads()
    if (kind === 'logs') return prepareLogs((options ?? {}) as LogFilterFields)
    if (kind === 'newPendingTransactions') return followTransactions(options === true)
    if (kind === 'syncing') return followSyncing
    throw invalidRequest(
      `There is no subscription to ${JSON.stringify(kind)}. Use newHeads, logs, newPendingTransactions or syncing.`,
    )
  }

  const start = (run: Run, signal: AbortSignal, { onResult, onError }: NodeSubscriptionListener): void => {
    const report: Report = async (result, readBlock) => {
      try {
        if (!signal.aborted) await onResult(result, readBlock)
      } catch (error) {
        // Reported as unhandled, as an error of a listener of a socket is.
        void Promise.reject(error)
      }
    }
    run(signal, report).catch((error: unknown) => {
      if (!signal.aborted) onError(error)
    })
  }

  const subscriptions: NodeSubscriptions = {
    subscribe: async (params, listener) => {
      const run = await prepare(params)
      const controller = new AbortController()
      const id = `0x${(++created).toString(16).padStart(32, '0')}`
      open.set(id, controller)
      // Later, because the caller must know the id first.
      void Promise.resolve().then(() => start(run, controller.signal, listener))
      return id
    },
    unsubscribe: (id) => {
      open.get(id)?.abort()
      return open.delete(id)
    },
    createSubscriber: (params, listener) =>
      createSubscriber((pausable, signal) => {
        prepare(params).then(
          (run) => start(run, signal, pausable),
          (error: unknown) => {
            if (!signal.aborted) pausable.onError(error)
          },
        )
      }, listener),
    createWatcherSubscriptions: (toError) => createWatcherSubscriptions(subscriptions, toError),
    createProviderSubscriptions: () => createProviderSubscriptions(subscriptions),
  }
  return subscriptions
}

const ignoreRetryable = (error: unknown): undefined => {
  if (!isKeyrailError(error) || !error.retryable) throw error
}
