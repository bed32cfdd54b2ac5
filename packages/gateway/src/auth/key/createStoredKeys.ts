import { isStorageError } from '../../errors/storageError.ts'
import type { StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RecentMap } from '../../lib/createRecentMap.ts'
import type { Access } from '../../storage/access.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createKeyCache } from './createKeyCache.ts'
import type { FoundKey, KeyLimits, KeyRecord, KeyStore } from './keyStore.ts'
import type { TrackAllowListUse } from '../allowList/compileAllowList.ts'
import { isJwtKeyId } from '../jwt/jwtKeyId.ts'
import { toKeyRecord } from './toKeyRecord.ts'

/** Options of `createStoredKeys`. */
export interface StoredKeysOptions {
  readonly storage: Pick<Storage, 'findAccess' | 'findAccessByKid' | 'ping' | 'changes'>
  /** Returns the effective limits of a key: see `resolveLimits`. */
  readonly getLimits: (source: LimitSource) => KeyLimits
  /** Creates the function to call when an entry of an app's allow list allows a request or a call. */
  readonly trackAllowListUse?: TrackAllowListUse | undefined
  /** Most keys cached, and most unknown keys cached; 2 or more. @default 100_000 */
  readonly maxEntries?: number
  /** How long cached keys work while the database is unreachable, in milliseconds. @default 600_000 (10 minutes) */
  readonly staleKeysForMs?: number
  /** How long an unknown key is cached as unknown, in milliseconds. @default 5_000 */
  readonly unknownForMs?: number
  /** A clock in milliseconds since 1970. The cache ignores its steps back. @default Date.now, and a monotonic clock for the cache */
  readonly now?: (() => number) | undefined
}

/** The facts that the limits of a key depend on, besides the config. */
export interface LimitSource {
  /** The app of the key; `null` for an API key. */
  readonly app: Pick<NonNullable<Access['app']>, 'limits'> | null
  readonly user: Pick<Access['user'], 'limits'>
  readonly networks: Access['networks']
}

/** A cached key store over a storage. */
export interface StoredKeys extends KeyStore {
  find(hash: string): FoundKey
  findByKid(kid: string): FoundKey
  isCached(text: string, by: 'hash' | 'kid'): boolean
  /** Drops changed keys from the cache, so that the next request reads them. Call it after the commit. */
  forget(changes: readonly Change[] | 'all'): void
  /** Takes the limits of cached keys from `getLimits` again, each when it is used next. Call it when the config has changed. It reads nothing from the database. */
  renewLimits(): void
  /**
   * Reads the change feed. Call it periodically: changes by other processes apply then.
   * @throws {StorageError} If the database does not respond or rejects writes. Then cached keys become stale.
   */
  refresh(): Promise<void>
  /** Since when the change feed cannot be read, in milliseconds since 1970; `undefined` if it can. */
  unreachableSince(): number | undefined
  /** The number of cached keys. */
  readonly size: number
  readonly cacheState: () => KeyCacheState
  /** Waits for a read of the change feed in flight. */
  close(): Promise<void>
}

/** The state of a key cache. */
export interface KeyCacheState {
  readonly entries: number
  readonly maxEntries: number
  /** Lookups that the cache had the result of, unknown keys included. */
  readonly hits: number
  /** Lookups that read the database, or joined a read in flight. */
  readonly misses: number
}

/** A record, and what its limits were made of. */
interface CachedKey {
  record: KeyRecord
  readonly userLimits: Access['user']['limits']
  readonly appLimits: Access['user']['limits']
  /** With which `limitsVersion` the limits were taken. */
  limitsVersion: number
}

const toLimitSource = ({ record, userLimits, appLimits }: CachedKey): LimitSource => ({
  app: record.appId === undefined ? null : { limits: appLimits },
  user: { limits: userLimits },
  networks: record.networks,
})

interface Lookup {
  /** The cache key. */
  readonly name: string
  /** The hash or kid. */
  readonly text: string
  readonly by: 'hash' | 'kid'
}

/**
 * Creates a key store over a storage. A record is compiled once and cached until its user, app or key changes: it is dropped immediately by
 * `forget`, or by the next `refresh` if another process made the change. Unknown keys are cached separately, so that they never evict existing ones.
 * While the database is unreachable, cached keys work for `staleKeysForMs` and other keys cannot be checked (`find` throws).
 * @throws {TypeError} if `maxEntries` is out of range.
 * @example
 * declare const storage: Parameters<typeof createStoredKeys>[0]['storage']
 * const limits = { perSecond: 100, burst: 1_000, perDay: 25_000, perMonth: null }
 * const keys = createStoredKeys({ storage, getLimits: () => limits })
 */
export const createStoredKeys = ({
  storage,
  getLimits,
  trackAllowListUse,
  maxEntries = 100_000,
  staleKeysForMs = 600_000,
  unknownForMs = 5_000,
  now: wallNow,
}: StoredKeysOptions): StoredKeys => {
  const now = monotonicClock(wallNow)
  const known = createKeyCache<CachedKey>(maxEntries)
  /** Incremented when the config has changed. */
  let limitsVersion = 0
  let unknown: RecentMap<number> = createRecentMap(maxEntries)
  const loading = new Map<string, Promise<KeyRecord | undefined>>()
  /** Incremented by every change: a read that started in an earlier epoch may be outdated. */
  let epoch = 0
  let hits = 0
  let misses = 0
  let position: string | undefined
  /** When the change feed was last read to its end. */
  let syncedAt = now()
  let failing = false

  const forget = (changes: readonly Change[] | 'all'): void => {
    if (changes !== 'all' && changes.length === 0) return
    epoch += 1
    loading.clear()
    if (changes !== 'all') for (const { id } of changes) known.forget(id)
    else {
      known.clear()
      unknown = createRecentMap(maxEntries)
    }
  }

  const cache = (lookup: Lookup, access: Access | undefined, startedIn: number): KeyRecord | undefined => {
    if (access === undefined) {
      if (startedIn === epoch) unknown.set(lookup.name, now() + unknownForMs)
      return undefined
    }
    const record = toKeyRecord(access, { limits: getLimits(access), by: lookup.by, trackAllowListUse })
    if (startedIn === epoch) {
      const cached = { record, userLimits: access.user.limits, appLimits: access.app?.limits ?? null, limitsVersion }
      known.set(lookup.name, cached, [access.user.id, access.app?.id ?? access.keyId])
    }
    return record
  }

  const load = (lookup: Lookup): FoundKey => {
    const { name, text, by } = lookup
    const shared = loading.get(name)
    if (shared !== undefined) return shared
    const startedIn = epoch
    const found = by === 'hash' ? storage.findAccess(text) : storage.findAccessByKid(text)
    if (!(found instanceof Promise)) return cache(lookup, found, startedIn)
    const loaded = found.then((access) => cache(lookup, access, startedIn))
    loading.set(name, loaded)
    const done = (): void => {
      if (loading.get(name) === loaded) loading.delete(name)
    }
    loaded.then(done, done)
    return loaded
  }

  /** A hash is 64 hex digits, so the two kinds of names never collide. */
  const toName = (text: string, by: 'hash' | 'kid'): string => (by === 'hash' ? text : `kid ${text}`)
  const isKnownUnknown = (name: string): boolean => now() < (unknown.get(name) ?? -Infinity)

  const find = (name: string, text: string, by: 'hash' | 'kid'): FoundKey => {
    const time = now()
    const cached = known.get(name)
    if (cached !== undefined && time - syncedAt <= staleKeysForMs) {
      hits += 1
      if (cached.limitsVersion !== limitsVersion) {
        cached.record = { ...cached.record, limits: getLimits(toLimitSource(cached)) }
        cached.limitsVersion = limitsVersion
      }
      return cached.record
    }
    if (cached === undefined && isKnownUnknown(name)) {
      hits += 1
      return undefined
    }
    misses += 1
    return load({ name, text, by })
  }

  const read = async (): Promise<void> => {
    const time = now()
    let rejected: StorageError | undefined
    try {
      const last = await storage.ping().catch((error: unknown) => {
        // A database that rejects writes, such as a standby, may still have new changes.
        if (!isStorageError(error) || error.fault === 'unavailable') throw error
        rejected = error
        return storage.changes.position()
      })
      if (position === undefined) {
        // Keys cached before the first read of the feed may have changed since.
        forget('all')
        position = last
      } else if (position !== last) {
        const next = await storage.changes.since(position)
        position = next.position
        forget(next.changed)
      }
      syncedAt = time
      failing = false
    } catch (error) {
      failing = true
      throw error
    }
    if (rejected !== undefined) throw rejected
  }

  let reading: Promise<unknown> = Promise.resolve()

  return {
    find: (hash) => find(hash, hash, 'hash'),
    // Impossible kids are not queried, because databases do not accept every text.
    findByKid: (kid) => (isJwtKeyId(kid) ? find(toName(kid, 'kid'), kid, 'kid') : undefined),
    isCached: (text, by) => {
      const name = toName(text, by)
      const isImpossible = by === 'kid' && !isJwtKeyId(text)
      return isImpossible || known.get(name) !== undefined || loading.has(name) || isKnownUnknown(name)
    },
    forget,
    renewLimits: () => {
      limitsVersion += 1
    },
    refresh: () => {
      const refreshed = reading.then(read)
      reading = refreshed.catch(() => {})
      return refreshed
    },
    unreachableSince: () => (failing ? (wallNow ?? Date.now)() - (now() - syncedAt) : undefined),
    get size() {
      return known.size
    },
    cacheState: () => ({ entries: known.size, maxEntries, hits, misses }),
    close: async () => {
      await reading
    },
  }
}
