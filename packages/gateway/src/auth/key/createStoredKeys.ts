import { isStorageError } from '../../errors/storageError.ts'
import type { StorageError } from '../../errors/storageError.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RecentMap } from '../../lib/createRecentMap.ts'
import type { Access } from '../../storage/access.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createKeyCache } from './createKeyCache.ts'
import type { KeyCache } from './createKeyCache.ts'
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

interface StoredKeysState
  extends
    Pick<StoredKeysOptions, 'storage' | 'getLimits' | 'trackAllowListUse'>,
    Required<Pick<StoredKeysOptions, 'maxEntries' | 'staleKeysForMs' | 'unknownForMs'>> {
  readonly now: () => number
  readonly known: KeyCache<CachedKey>
  /** Incremented when the config has changed. */
  limitsVersion: number
  /** When each unknown key is looked up again. */
  unknown: RecentMap<number>
  readonly loading: Map<string, Promise<KeyRecord | undefined>>
  /** Incremented by every change: a read that started in an earlier epoch may be outdated. */
  epoch: number
  hits: number
  misses: number
  /** The position in the change feed. */
  position: string | undefined
  /** When the change feed was last read to its end. */
  syncedAt: number
  failing: boolean
  /** The read of the change feed in flight, if there is one. */
  reading: Promise<unknown>
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

const forget = (state: StoredKeysState, changes: readonly Change[] | 'all'): void => {
  if (changes !== 'all' && changes.length === 0) return
  state.epoch += 1
  state.loading.clear()
  if (changes !== 'all') for (const { id } of changes) state.known.forget(id)
  else {
    state.known.clear()
    state.unknown = createRecentMap(state.maxEntries)
  }
}

const cache = (
  state: StoredKeysState,
  lookup: Lookup,
  access: Access | undefined,
  startedIn: number,
): KeyRecord | undefined => {
  if (access === undefined) {
    if (startedIn === state.epoch) state.unknown.set(lookup.name, state.now() + state.unknownForMs)
    return undefined
  }
  const record = toKeyRecord(access, {
    limits: state.getLimits(access),
    by: lookup.by,
    trackAllowListUse: state.trackAllowListUse,
  })
  if (startedIn === state.epoch) {
    const cached = {
      record,
      userLimits: access.user.limits,
      appLimits: access.app?.limits ?? null,
      limitsVersion: state.limitsVersion,
    }
    state.known.set(lookup.name, cached, [access.user.id, access.app?.id ?? access.keyId])
  }
  return record
}

const load = (state: StoredKeysState, lookup: Lookup): FoundKey => {
  const { name, text, by } = lookup
  const shared = state.loading.get(name)
  if (shared !== undefined) return shared
  const startedIn = state.epoch
  const found = by === 'hash' ? state.storage.findAccess(text) : state.storage.findAccessByKid(text)
  if (!(found instanceof Promise)) return cache(state, lookup, found, startedIn)
  const loaded = found.then((access) => cache(state, lookup, access, startedIn))
  state.loading.set(name, loaded)
  const done = (): void => {
    if (state.loading.get(name) === loaded) state.loading.delete(name)
  }
  loaded.then(done, done)
  return loaded
}

/** A hash is 64 hex digits, so the two kinds of names never collide. */
const toName = (text: string, by: 'hash' | 'kid'): string => (by === 'hash' ? text : `kid ${text}`)

const isKnownUnknown = (state: StoredKeysState, name: string): boolean =>
  state.now() < (state.unknown.get(name) ?? -Infinity)

const find = (state: StoredKeysState, text: string, by: 'hash' | 'kid'): FoundKey => {
  const name = toName(text, by)
  const time = state.now()
  const cached = state.known.get(name)
  if (cached !== undefined && time - state.syncedAt <= state.staleKeysForMs) {
    state.hits += 1
    if (cached.limitsVersion !== state.limitsVersion) {
      cached.record = { ...cached.record, limits: state.getLimits(toLimitSource(cached)) }
      cached.limitsVersion = state.limitsVersion
    }
    return cached.record
  }
  if (cached === undefined && isKnownUnknown(state, name)) {
    state.hits += 1
    return undefined
  }
  state.misses += 1
  return load(state, { name, text, by })
}

const read = async (state: StoredKeysState): Promise<void> => {
  const time = state.now()
  let rejected: StorageError | undefined
  try {
    const last = await state.storage.ping().catch((error: unknown) => {
      // A database that rejects writes, such as a standby, may still have new changes.
      if (!isStorageError(error) || error.fault === 'unavailable') throw error
      rejected = error
      return state.storage.changes.position()
    })
    if (state.position === undefined) {
      // Keys cached before the first read of the feed may have changed since.
      forget(state, 'all')
      state.position = last
    } else if (state.position !== last) {
      const next = await state.storage.changes.since(state.position)
      state.position = next.position
      forget(state, next.changed)
    }
    state.syncedAt = time
    state.failing = false
  } catch (error) {
    state.failing = true
    throw error
  }
  if (rejected !== undefined) throw rejected
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
  const state: StoredKeysState = {
    storage,
    getLimits,
    trackAllowListUse,
    maxEntries,
    staleKeysForMs,
    unknownForMs,
    now,
    known: createKeyCache(maxEntries),
    limitsVersion: 0,
    unknown: createRecentMap(maxEntries),
    loading: new Map(),
    epoch: 0,
    hits: 0,
    misses: 0,
    position: undefined,
    syncedAt: now(),
    failing: false,
    reading: Promise.resolve(),
  }
  return {
    find: (hash) => find(state, hash, 'hash'),
    // Impossible kids are not queried, because databases do not accept every text.
    findByKid: (kid) => (isJwtKeyId(kid) ? find(state, kid, 'kid') : undefined),
    isCached: (text, by) => {
      const name = toName(text, by)
      const isImpossible = by === 'kid' && !isJwtKeyId(text)
      return (
        isImpossible || state.known.get(name) !== undefined || state.loading.has(name) || isKnownUnknown(state, name)
      )
    },
    forget: (changes) => forget(state, changes),
    renewLimits: () => {
      state.limitsVersion += 1
    },
    refresh: () => {
      const refreshed = state.reading.then(() => read(state))
      state.reading = refreshed.catch(() => {})
      return refreshed
    },
    unreachableSince: () => (state.failing ? (wallNow ?? Date.now)() - (state.now() - state.syncedAt) : undefined),
    get size() {
      return state.known.size
    },
    cacheState: () => ({
      entries: state.known.size,
      maxEntries,
      hits: state.hits,
      misses: state.misses,
    }),
    close: async () => {
      await state.reading
    },
  }
}
