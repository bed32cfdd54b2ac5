import { isApiKey } from '../../lib/secrets/apiKey.ts'
import { checkKeyRecord } from './checkKeyRecord.ts'
import { hashApiKey } from '../../lib/secrets/hashApiKey.ts'
import type { KeyRecord, KeyStore } from './keyStore.ts'

/** A key store that forgets all when the process ends. Holds hashes, not keys. */
export interface MemoryKeyStore extends KeyStore {
  find(hash: string): KeyRecord | undefined
  findByKid(kid: string): KeyRecord | undefined
  /** Adds a key, or replaces its record: so a key is revoked by adding it again as `revoked`. @throws {TypeError} where the text is no key, or the record is wrong. */
  add(key: string, record: KeyRecord): void
  /** Forgets a key. @returns Whether it was there. */
  remove(key: string): boolean
}

const sha256 = /^[0-9a-f]{64}$/

/**
 * Makes a key store in memory.
 * @param records - Records to begin with, each under its key's hash (`hashApiKey`).
 * @throws {TypeError} where a hash or a record is wrong; the message names what and holds no key.
 * @example
 * const keys = createMemoryKeyStore()
 * keys.add(createApiKey('app'), { id: 'app-1', kind: 'app', networks: ['testnet', 'mainnet'], status: 'active' })
 */
export const createMemoryKeyStore = (
  records: Iterable<readonly [hash: string, record: KeyRecord]> = [],
): MemoryKeyStore => {
  const byHash = new Map<string, KeyRecord>()
  for (const [hash, record] of records) {
    if (typeof hash !== 'string' || !sha256.test(hash))
      throw new TypeError('a record must stand under the hash of its key, 64 lower hex digits: make it with hashApiKey')
    byHash.set(hash, checkKeyRecord(record))
  }
  return {
    find: (hash) => byHash.get(hash),
    findByKid: (kid) => {
      // No copy of all records for each call: anybody can ask with any kid.
      for (const record of byHash.values()) if (record.jwt?.policy.keys.has(kid) === true) return record
      return undefined
    },
    add: (key, record) => {
      if (!isApiKey(key)) throw new TypeError('key is no API key: make one with createApiKey')
      byHash.set(hashApiKey(key), checkKeyRecord(record))
    },
    remove: (key) => byHash.delete(hashApiKey(key)),
  }
}
