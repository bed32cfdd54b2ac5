import { setTimeout as wait } from 'node:timers/promises'
import type { ChainReader } from './createChainReader.ts'
import type { ChainWriter } from './createChainWriter.ts'
import { createThreadStore } from './createThreadStore.ts'
import type { ChainStore } from './chainStore.ts'
import { startChainThread } from './startChainThread.ts'

/** Options of a chain store in Redis. */
export interface RedisStoreOptions {
  /** A secret. */
  readonly redisUrl: string
  /** Whether everything is confirmed by a node of another group before it is served. @default false */
  readonly confirm?: boolean | undefined
  /** How long a look-up may take, in milliseconds. @default 20 */
  readonly patienceMs?: number
  /** Called with what an operator should know. */
  readonly warn: (what: string) => void
}

const pollMs = 20

/** Waits until a store in Redis can be used. @returns Whether it can, within a time in milliseconds. */
export const waitForRedis = async (store: Pick<ChainStore, 'call'>, withinMs: number): Promise<boolean> => {
  const endsAt = performance.now() + withinMs
  while (performance.now() < endsAt) {
    const isReady = await store.call('getCheckpoint', '').then(
      () => true,
      () => false,
    )
    if (isReady) return true
    await wait(pollMs)
  }
  return false
}

/**
 * Opens a chain store in Redis, which all instances share. It connects in the background, and reconnects: without Redis, calls go to nodes.
 * Whether Redis may be used has been checked.
 */
export const openRedisStore = ({ redisUrl, confirm = false, patienceMs, warn }: RedisStoreOptions): ChainStore => {
  const reader = startChainThread<ChainReader>({ redisUrl, mayWrite: false, patienceMs })
  const writer = startChainThread<ChainWriter>({ redisUrl, mayWrite: true }, warn)
  const {
    stop,
    isOn,
    read: _read,
    write: _write,
    getUses: _getUses,
    ...store
  } = createThreadStore({
    reader,
    writer,
    confirm,
    failure: 'redis',
    pauseMs: 0,
    onError: () => {},
  })
  void Promise.race([reader.ended, writer.ended]).then(() => {
    if (!isOn()) return
    stop()
    warn('The chain store in Redis is off until the service is restarted: one of its threads has ended.')
  })
  return {
    ...store,
    close: async () => {
      stop()
      await Promise.all([reader.close(), writer.close()])
    },
  }
}
