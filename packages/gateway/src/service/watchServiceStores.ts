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

/** Watches the database, by reading the change feed, and Redis, if there is one. */
export const watchServiceStores = ({
  storage,
  redis,
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
    ],
    log,
  )
  storage.onProblem(() => watch.checkSoon('database'))
  // Changes that were published while no messages arrived are only in the change feed.
  redis?.messages.onListening(() => watch.checkSoon('database'))
  return watch
}
