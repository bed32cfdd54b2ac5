import type { AccessListEntry } from '@keyrail/core/schema'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeObject } from './decodeObject.ts'

/**
 * Decodes an access list.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message.
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @see EIP-2930
 */
export function decodeAccessList(value: unknown, path: string): AccessListEntry[] {
  return decodeList(value, path, (item, at) => {
    const entry = decodeObject<keyof AccessListEntry>(item, at)
    return {
      ...entry,
      address: decodeHex(entry.address, `${at}.address`, 20),
      storageKeys: decodeList(entry.storageKeys, `${at}.storageKeys`, (key, keyAt) => decodeHex(key, keyAt, 32)),
    }
  })
}
