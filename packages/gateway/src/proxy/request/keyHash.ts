import type { CallPath } from '../http/parsePath.ts'
import { isApiKey } from '../../lib/secrets/apiKey.ts'
import { hashApiKey } from '../../lib/secrets/hashApiKey.ts'

const hashes = new WeakMap<CallPath, string>()

/** The hash of an address's key, worked out once for the address; `undefined` where that is no key by its form or its checksum. */
export const keyHash = (at: CallPath): string | undefined => {
  const known = hashes.get(at)
  if (known !== undefined) return known
  if (at.key === undefined || !isApiKey(at.key)) return undefined
  const hash = hashApiKey(at.key)
  hashes.set(at, hash)
  return hash
}
