import type { Network } from '../../lib/network.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { KeyRecord } from './keyStore.ts'

/**
 * Whether a key may be used at a path. Who asks has shown the key, so naming what is wrong with it tells nobody else anything.
 * @param nowMs - Since 1970. A key's end is judged anew each time: it may lie between two looks at the same record.
 * @returns Why not, or `undefined`.
 */
export const rejectKey = (
  record: KeyRecord,
  at: { network: Network; variant: 'app' | 'apiKey' },
  nowMs: number,
): Rejection | undefined => {
  if (record.status === 'revoked') return rejections.keyRevoked()
  if (record.status === 'expired') return rejections.keyExpired()
  // A store may know states that this version does not.
  if (record.status !== 'active') return rejections.keyDisabled()
  if (record.endsAt !== undefined && record.endsAt !== null && nowMs >= record.endsAt) return rejections.keyExpired()
  const [only, ...others] = record.networks
  if (!record.networks.includes(at.network))
    return rejections.wrongNetwork(at.network, only !== undefined && others.length === 0 ? only : null)
  return record.kind === at.variant ? undefined : rejections.keyWrongPath(record.kind, at.network)
}
