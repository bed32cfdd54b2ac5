import type { StoredKeys } from '../auth/key/createStoredKeys.ts'
import { isStorageError } from '../errors/storageError.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { RedisParts } from './openRedisParts.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { watchStores } from './watchStores.ts'
import type { StoreWatch } from './watchStores.ts'

/** How often the change feed is read. Changes by other instances apply at most this much later. */
const pollMs = 1_000
/** The same while Redis delivers changes at once. By chance up to a fifth sooner, so that many instances do not read it in step. */
const getPushedPollMs = (): number => 5_000 * (1 - Math.random() / 5)

/** What is thrown while the Redis of the chain store does not respond; why it does not stays in its threads. */
const chainStoreFault = Object.assign(new Error('the Redis of the chain store does not respond'), { code: 'timeout' })

/** Watches the database, by reading the change feed, and, if there are any, Redis and the Redis of the chain store: without that, calls go to nodes. */
export const watchServiceStores = ({
  storage,
  redis,
  chainStore,
  keys,
  log,
}: {
  storage: { readonly db: Pick<Storage['db'], 'kind'> } & Pick<Storage, 'onProblem'>
  redis:
    | {
        readonly link: Pick<RedisParts['link'], 'ping'>
        readonly messages: Pick<RedisParts['messages'], 'isListening' | 'onListening'>
      }
    | undefined
  /** The one in Redis. */
  chainStore: { readonly call: (name: 'getCheckpoint', chain: string) => Promise<unknown> } | undefined
  keys: Pick<StoredKeys, 'refresh'>
  log: (entry: ServiceLogEntry) => void
}): StoreWatch => {
  const watch = watchStores(
    [
      {
        name: 'database',
        check: keys.refresh,
        getIntervalMs: () => (redis?.messages.isListening() === true ? getPushedPollMs() : pollMs),
        // While PostgreSQL is unreachable, calls go on. Any other failed write fails the quotas too, and with them the calls.
        isFatal: (error) => storage.db.kind === 'sqlite' || isStorageError(error, 'failed'),
      },
      ...(redis === undefined ? [] : [{ name: 'redis' as const, check: () => redis.link.ping() }]),
      ...(chainStore === undefined
        ? []
        : [
            {
              name: 'chainStore' as const,
              check: () => chainStore.call('getCheckpoint', '').catch(() => Promise.reject(chainStoreFault)),
            },
          ]),
    ],
    log,
  )
  storage.onProblem(() => watch.checkSoon('database'))
  // Changes that were published while no messages arrived are only in the change feed.
  redis?.messages.onListening(() => watch.checkSoon('database'))
  return watch
}
