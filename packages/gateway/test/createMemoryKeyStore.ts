import type { KeyRecord, KeyStore } from '../src/auth/key/keyStore.ts'
import { hashApiKey } from '../src/lib/secrets/hashApiKey.ts'

/** A key store in memory. */
export interface MemoryKeyStore extends KeyStore {
  find(hash: string): KeyRecord | undefined
  findByKid(kid: string): KeyRecord | undefined
  /** Adds a key or replaces its record. */
  add(key: string, record: KeyRecord): void
  /** Removes a key. @returns Whether it existed. */
  remove(key: string): boolean
}

/** Creates a key store in memory. */
export const createMemoryKeyStore = (): MemoryKeyStore => {
  const byHash = new Map<string, KeyRecord>()
  return {
    find: (hash) => byHash.get(hash),
    findByKid: (kid) => [...byHash.values()].find((record) => record.jwt?.policy.keys.has(kid) === true),
    isCached: () => true,
    add: (key, record) => void byHash.set(hashApiKey(key), record),
    remove: (key) => byHash.delete(hashApiKey(key)),
  }
}
