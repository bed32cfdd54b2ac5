import { isApiKey } from './apiKey.ts'
import { hashApiKey } from './hashApiKey.ts'
import type { KeyRecord, KeyStore } from './keyStore.ts'

/** A key store that forgets all when the process ends. Holds hashes, not keys. */
export interface MemoryKeyStore extends KeyStore {
  find(hash: string): KeyRecord | undefined
  /** Adds a key, or replaces its record: so a key is revoked by adding it again as `revoked`. @throws {TypeError} where the text is no key. */
  add(key: string, record: KeyRecord): void
  /** Forgets a key. @returns Whether it was there. */
  remove(key: string): boolean
}

/**
 * Makes a key store in memory.
 * @param records - Records to begin with, each under its key's hash (`hashApiKey`).
 * @example
 * const keys = createMemoryKeyStore()
 * keys.add(createApiKey('app'), { id: 'app-1', kind: 'app', networks: ['testnet', 'mainnet'], status: 'active' })
 */
export const createMemoryKeyStore = (
  records: Iterable<readonly [hash: string, record: KeyRecord]> = [],
): MemoryKeyStore => {
  const byHash = new Map<string, KeyRecord>(records)
  return {
    find: (hash) => byHash.get(hash),
    add: (key, record) => {
      if (!isApiKey(key)) throw new TypeError('key is no API key: make one with createApiKey')
      byHash.set(hashApiKey(key), { ...record, networks: [...record.networks] })
    },
    remove: (key) => byHash.delete(hashApiKey(key)),
  }
}
