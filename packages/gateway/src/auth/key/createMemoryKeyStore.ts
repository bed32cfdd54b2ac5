import { isApiKey } from '../../lib/secrets/apiKey.ts'
import { checkKeyRecord } from './checkKeyRecord.ts'
import { hashApiKey } from '../../lib/secrets/hashApiKey.ts'
import type { KeyRecord, KeyStore } from './keyStore.ts'

/** A key store in memory. Stores hashes, not keys. */
export interface MemoryKeyStore extends KeyStore {
  find(hash: string): KeyRecord | undefined
  findByKid(kid: string): KeyRecord | undefined
  /** Adds a key or replaces its record. To revoke a key, add it again with status `revoked`. @throws {TypeError} if the key or record is invalid. */
  add(key: string, record: KeyRecord): void
  /** Removes a key. @returns Whether it existed. */
  remove(key: string): boolean
}

const sha256 = /^[0-9a-f]{64}$/

/**
 * Creates a key store in memory.
 * @param records - Initial records by the hash of their key (`hashApiKey`).
 * @throws {TypeError} if a hash or record is invalid. The message contains no key.
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
      throw new TypeError(
        'records must be keyed by the hash of their API key, 64 lower-case hex digits: use hashApiKey',
      )
    byHash.set(hash, checkKeyRecord(record))
  }
  return {
    find: (hash) => byHash.get(hash),
    findByKid: (kid) => {
      // Does not copy the records: any caller can trigger this with any kid.
      for (const record of byHash.values()) if (record.jwt?.policy.keys.has(kid) === true) return record
      return undefined
    },
    add: (key, record) => {
      if (!isApiKey(key)) throw new TypeError('key is not an API key: create one with createApiKey')
      byHash.set(hashApiKey(key), checkKeyRecord(record))
    },
    remove: (key) => byHash.delete(hashApiKey(key)),
  }
}
