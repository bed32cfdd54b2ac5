import { pause } from '../clock/pause.ts'
import { invalidRequest } from '../failure/check.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { LogFilterFields } from '../schema/log.ts'
import type { Transport } from '../transport/transport.ts'
import { missingBlock, parseBlock } from './chainBlock.ts'
import { createSubscription } from './createSubscription.ts'
import type { NodeSubscriptions } from './getNodeSubscriptions.ts'
import { createRecentChain } from './recentChain.ts'

/** How often `eth_syncing` is called. */
const syncingIntervalMs = 10_000
const reorgDepth = 64

type Run = (signal: AbortSignal, onResult: (result: unknown) => void) => Promise<void>

/** Creates the subscriptions of a transport. */
export function createNodeSubscriptions(transport: Transport): NodeSubscriptions {
  const open = new Map<string, AbortController>()
  let created = 0

  const readHead = async (): Promise<string> => {
    const value = await transport.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
    if (value === null) throw missingBlock('latest')
    const head = parseBlock(value)
    const first = head.number + 1
    return createRecentChain(reorgDepth, { first, complete: true, blocks: [{ ...head, reported: [] }] }).toCursor()
  }

  const followHeads = async (): Promise<Run> => {
    const cursor = await readHead()
    return async (signal, onResult) => {
      for await (const event of createSubscription(transport, { blocks: true }, { cursor, reorgDepth, signal }))
        if (event.type === 'block') onResult(event.header)
    }
  }
  const followLogs = async ({ address, topics }: LogFilterFields): Promise<Run> => {
    const cursor = await readHead()
    return async (signal, onResult) => {
      const logs = createSubscription(transport, { logs: { address, topics } }, { cursor, reorgDepth, signal })
      for await (const event of logs)
        for (const log of event.type === 'log' ? [event.log] : event.removed) onResult(log)
    }
  }
  const followTransactions =
    (whole: boolean): Run =>
    async (signal, onResult) => {
      for await (const { hash } of createSubscription(transport, { pending: true }, { signal })) {
        const result = whole
          ? await transport.request({ method: 'eth_getTransactionByHash', params: [hash] }, { signal })
          : hash
        // It may have left the pool already.
        if (result !== null) onResult(result)
      }
    }
  const followSyncing: Run = async (signal, onResult) => {
    let last = 'false'
    for (;;) {
      const result = await transport.request({ method: 'eth_syncing', params: [] }, { signal }).catch(ignoreRetryable)
      const text = JSON.stringify(result) ?? last
      if (text !== last) onResult(result)
      last = text
      await pause(syncingIntervalMs, signal)
    }
  }

  const prepare = async ([kind, options]: readonly unknown[]): Promise<Run> => {
    if (kind === 'newHeads') return followHeads()
    if (kind === 'logs') return followLogs((options ?? {}) as LogFilterFields)
    if (kind === 'newPendingTransactions') return followTransactions(options === true)
    if (kind === 'syncing') return followSyncing
    throw invalidRequest(
      `There is no subscription to ${JSON.stringify(kind)}. Use newHeads, logs, newPendingTransactions or syncing.`,
    )
  }

  return {
    subscribe: async (params, { onResult, onError }) => {
      const run = await prepare(params)
      const controller = new AbortController()
      const { signal } = controller
      const id = `0x${(++created).toString(16).padStart(32, '0')}`
      open.set(id, controller)
      const report = (result: unknown): void => {
        if (!signal.aborted) onResult(result)
      }
      // Later, because the caller must know the id first.
      void Promise.resolve()
        .then(() => run(signal, report))
        .catch((error: unknown) => {
          if (open.delete(id)) onError(error)
        })
      return id
    },
    unsubscribe: (id) => {
      const controller = open.get(id as string)
      open.delete(id as string)
      controller?.abort()
      return controller !== undefined
    },
    close: () => {
      const controllers = [...open.values()]
      open.clear()
      for (const controller of controllers) controller.abort()
    },
  }
}

const ignoreRetryable = (error: unknown): undefined => {
  if (!isKeyrailError(error) || !error.retryable) throw error
}
