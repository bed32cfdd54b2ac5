import type { Network } from '../network.ts'
import { refusals } from '../refusal/refusals.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { KeyRecord } from './keyStore.ts'

/**
 * Whether a key may be used at a path. Who asks has shown the key, so naming what is wrong with it tells nobody else anything.
 * @returns Why not, or `undefined`.
 */
export const refuseKey = (
  record: KeyRecord | undefined,
  at: { network: Network; variant: 'app' | 'apiKey' },
): Refusal | undefined => {
  if (record === undefined) return refusals.keyUnknown()
  if (record.status === 'revoked') return refusals.keyRevoked()
  if (record.status === 'expired') return refusals.keyExpired()
  // A store may know states that this version does not.
  if (record.status !== 'active') return refusals.keyDisabled()
  const [only, ...others] = record.networks
  if (!record.networks.includes(at.network))
    return refusals.wrongNetwork(at.network, only !== undefined && others.length === 0 ? only : null)
  return record.kind === at.variant ? undefined : refusals.keyWrongPath(record.kind, at.network)
}
