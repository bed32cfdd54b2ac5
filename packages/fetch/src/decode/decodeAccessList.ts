import type { AccessListEntry } from '@keyrail/core/schema'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeObject } from './decodeObject.ts'

/**
 * Reads an access list.
 *
 * @param value - What the node sent.
 * @param what - Its place in the answer, for a failure's message.
 * @throws {KeyrailError} kind `badResponse`, naming the field that is broken or missing.
 * @see EIP-2930
 */
export function decodeAccessList(value: unknown, what: string): AccessListEntry[] {
  return decodeList(value, what, (item, at) => {
    const entry = decodeObject<keyof AccessListEntry>(item, at)
    return {
      ...entry,
      address: decodeHex(entry.address, `${at}.address`, 20),
      storageKeys: decodeList(entry.storageKeys, `${at}.storageKeys`, (key, keyAt) => decodeHex(key, keyAt, 32)),
    }
  })
}
