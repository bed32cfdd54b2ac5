import type { Network } from '../../lib/network.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { KeyRecord } from './keyStore.ts'

/**
 * Checks whether a key may be used at a path. The caller has the key, so that a precise reason discloses nothing.
 * @param nowMs - Since 1970. The expiry is checked for every request, because records are cached.
 * @returns The rejection, or `undefined`.
 */
export const rejectKey = (
  record: KeyRecord,
  at: { network: Network; variant: 'app' | 'apiKey' },
  nowMs: number,
): Rejection | undefined => {
  if (record.status === 'revoked') return rejections.keyRevoked()
  if (record.status === 'expired') return rejections.keyExpired()
  // A store may have a status that this version does not know.
  if (record.status !== 'active') return rejections.keyDisabled()
  if (record.expiresAt !== undefined && record.expiresAt !== null && nowMs >= record.expiresAt)
    return rejections.keyExpired()
  if (!record.networks.includes(at.network)) return rejections.wrongNetwork(at.network, record.kind, record.networks)
  return record.kind === at.variant ? undefined : rejections.keyWrongPath(record.kind, at.network)
}
