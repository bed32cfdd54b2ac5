import { networkNames } from '../../lib/network.ts'
import { checkKeyLimits } from './keyLimits.ts'
import type { KeyRecord } from './keyStore.ts'

const kinds: readonly KeyRecord['kind'][] = ['app', 'apiKey']
const statuses: readonly KeyRecord['status'][] = ['active', 'revoked', 'expired', 'disabled']

const oneOf = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/**
 * Checks a key's record, and copies it, so that what its giver changes later changes nothing here.
 * @throws {TypeError} where a member is wrong. The message names it and repeats no value.
 */
export const checkKeyRecord = (record: KeyRecord): KeyRecord => {
  if (typeof record !== 'object' || record === null)
    throw new TypeError('record must be an object with id, kind, networks and status')
  const { id, kind, networks, status, endsAt, limits, ...rest } = record
  if (typeof id !== 'string' || id === '') throw new TypeError('record.id must be a text that is not empty')
  if (!kinds.includes(kind)) throw new TypeError(`record.kind must be one of ${oneOf(kinds)}`)
  if (!Array.isArray(networks) || networks.length === 0 || !networks.every((name) => networkNames.includes(name)))
    throw new TypeError(`record.networks must be a list of at least one of ${oneOf(networkNames)}`)
  if (!statuses.includes(status)) throw new TypeError(`record.status must be one of ${oneOf(statuses)}`)
  if (endsAt !== undefined && endsAt !== null && !Number.isFinite(endsAt))
    throw new TypeError('record.endsAt must be a time in milliseconds since 1970, or null for never')
  return {
    ...rest,
    id,
    kind,
    networks: [...networks],
    status,
    ...(endsAt === undefined ? {} : { endsAt }),
    ...(limits === undefined ? {} : { limits: checkKeyLimits(limits) }),
  }
}
