import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import type { RecentMap } from '../../lib/createRecentMap.ts'
import type { Access } from '../../storage/access.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import { createKeyCache } from './createKeyCache.ts'
import type { FoundKey, KeyLimits, KeyRecord, KeyStore } from './keyStore.ts'
import { isJwtKeyId } from '../jwt/jwtKeyId.ts'
import { toKeyRecord } from './toKeyRecord.ts'

/** What stored keys are made of. */
export interface StoredKeysOptions {
  readonly storage: Pick<Storage, 'findAccess' | 'findAccessByKid' | 'changes'>
  /** The limits in force for a key: see `limitsInForce`. */
  readonly limitsOf: (access: Access) => KeyLimits
  /** Keys remembered, and as many that do not exist; 2 or more. @default 100_000 */
  readonly maxEntries?: number
  /** How long known keys go on working while the database is gone, in milliseconds. @default 600_000 (10 minutes) */
  readonly staleKeysForMs?: number
  /** How often the feed of changes is read, in milliseconds: what other processes write acts this much later. @default 1_000 */
  readonly pollMs?: number
  /** How long a key that does not exist is remembered, in milliseconds. @default 5_000 */
  readonly unknownForMs?: number
  /** A clock in milliseconds since 1970. Times of the cache leave out its steps back. @default Date.now, and a monotonic clock for the cache */
  readonly now?: (() => number) | undefined
}

/** The keys of a storage, remembered as they are used. */
export interface StoredKeys extends KeyStore {
  find(hash: string): FoundKey
  findByKid(kid: string): FoundKey
  /** Forgets what has changed, so that the next request sees it. Call it after the commit that changed it. */
  forget(changes: readonly Change[] | 'all'): void
  /** Reads the feed of changes now, as when another instance says that there is something new. Never rejects. */
  refresh(): Promise<void>
  /** Since when the database does not tell of changes, in milliseconds since 1970; `undefined` while it does. */
  outageSince(): number | undefined
  /** How many keys are remembered now. */
  readonly size: number
  /** Stops reading the feed. */
  close(): Promise<void>
}

interface Asked {
  /** What it is remembered by. */
  readonly name: string
  readonly text: string
  readonly by: 'hash' | 'kid'
}

/**
 * Makes a key store over a storage. What was found is compiled once and remembered until the feed of changes names its user, its app or
 * its key: at once where `forget` is called, within `pollMs` where another process wrote. Keys that nobody has are remembered apart, so that
 * strangers crowd out none that somebody has.
 * While the database is gone, remembered keys work for `staleKeysForMs`, and others cannot be checked (`find` throws).
 * @throws {TypeError} where `maxEntries` is out of its range.
 * @example
 * declare const storage: Parameters<typeof createStoredKeys>[0]['storage']
 * const limits = { perSecond: 100, burst: 1_000, perDay: 25_000, perMonth: null }
 * const keys = createStoredKeys({ storage, limitsOf: () => limits })
 */
export const createStoredKeys = ({
  storage,
  limitsOf,
  maxEntries = 100_000,
  staleKeysForMs = 600_000,
  pollMs = 1_000,
  unknownForMs = 5_000,
  now: wallNow,
}: StoredKeysOptions): StoredKeys => {
  const now = monotonicClock(wallNow)
  const known = createKeyCache<KeyRecord>(maxEntries)
  let unknown: RecentMap<number> = createRecentMap(maxEntries)
  const loading = new Map<string, Promise<KeyRecord | undefined>>()
  /** Moves with all that is forgotten: what began to be read before may be older than the change. */
  let epoch = 0
  let seq: number | undefined
  /** When the feed was last known to be read to its end. */
  let seenAt = now()
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

  const keep = (asked: Asked, access: Access | undefined, begun: number): KeyRecord | undefined => {
    if (access === undefined) {
      if (begun === epoch) unknown.set(asked.name, now() + unknownForMs)
      return undefined
    }
    const record = toKeyRecord(access, { limits: limitsOf(access), by: asked.by })
    if (begun === epoch) known.set(asked.name, record, [access.user.id, access.app?.id ?? access.keyId])
    return record
  }

  const load = (asked: Asked): FoundKey => {
    const { name, text, by } = asked
    const shared = loading.get(name)
    if (shared !== undefined) return shared
    const begun = epoch
    const found = by === 'hash' ? storage.findAccess(text) : storage.findAccessByKid(text)
    if (!(found instanceof Promise)) return keep(asked, found, begun)
    const loaded = found.then((access) => keep(asked, access, begun))
    loading.set(name, loaded)
    const done = (): void => {
      if (loading.get(name) === loaded) loading.delete(name)
    }
    loaded.then(done, done)
    return loaded
  }

  const find = (name: string, text: string, by: 'hash' | 'kid'): FoundKey => {
    const time = now()
    const kept = known.get(name)
    if (kept !== undefined && time - seenAt <= staleKeysForMs) return kept
    const until = kept === undefined ? unknown.get(name) : undefined
    return until !== undefined && time < until ? undefined : load({ name, text, by })
  }

  const read = async (): Promise<void> => {
    const time = now()
    try {
      if (seq === undefined) {
        const first = await storage.changes.seq()
        // What was remembered before the feed was read may have changed before, too.
        forget('all')
        seq = first
      } else {
        const next = await storage.changes.since(seq)
        seq = next.seq
        forget(next.changed)
      }
      seenAt = time
      failing = false
    } catch {
      failing = true
    }
  }

  let closed = false
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> = Promise.resolve()
  /** How many have asked for a reading that has not begun: they share one. */
  let waiting: Promise<void> | undefined
  const refresh = (): Promise<void> => {
    // One that is in flight may have looked before the change that this is about.
    waiting ??= reading.then(() => {
      waiting = undefined
      return closed ? undefined : (reading = read())
    })
    return waiting
  }
  const readOn = async (): Promise<void> => {
    await refresh()
    if (!closed) timer = setTimeout(() => void readOn(), pollMs).unref()
  }
  void readOn()

  return {
    find: (hash) => find(hash, hash, 'hash'),
    // A hash is hex of 64 letters, so the two kinds of names never meet. What no kid can be is asked of no database: not all take any text.
    findByKid: (kid) => (isJwtKeyId(kid) ? find(`kid ${kid}`, kid, 'kid') : undefined),
    forget,
    refresh,
    outageSince: () => (failing ? (wallNow ?? Date.now)() - (now() - seenAt) : undefined),
    get size() {
      return known.size
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await (waiting ?? reading)
    },
  }
}
