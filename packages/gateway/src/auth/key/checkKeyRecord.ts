import { isNetworkName, networkNameRule } from '../../lib/network.ts'
import { checkKeyLimits } from './keyLimits.ts'
import type { KeyRecord } from './keyStore.ts'

const kinds: readonly KeyRecord['kind'][] = ['app', 'apiKey']
const statuses: readonly KeyRecord['status'][] = ['active', 'revoked', 'expired', 'disabled']

const toQuotedList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/**
 * Checks and copies a key record, so that later changes by the caller have no effect.
 * @throws {TypeError} if a member is invalid. The message names it and contains no value.
 */
export const checkKeyRecord = (record: KeyRecord): KeyRecord => {
  if (typeof record !== 'object' || record === null)
    throw new TypeError('record must be an object with id, kind, networks and status')
  const { id, kind, networks, status, expiresAt, limits, ...rest } = record
  if (typeof id !== 'string' || id === '') throw new TypeError('record.id must be a non-empty string')
  if (!kinds.includes(kind)) throw new TypeError(`record.kind must be one of ${toQuotedList(kinds)}`)
  if (
    !Array.isArray(networks) ||
    networks.length === 0 ||
    !networks.every((name) => typeof name === 'string' && isNetworkName(name))
  )
    throw new TypeError(`record.networks must be a list of at least one network. A name ${networkNameRule}`)
  if (!statuses.includes(status)) throw new TypeError(`record.status must be one of ${toQuotedList(statuses)}`)
  if (expiresAt !== undefined && expiresAt !== null && !Number.isFinite(expiresAt))
    throw new TypeError('record.expiresAt must be a time in milliseconds since 1970, or null for never')
  return {
    ...rest,
    id,
    kind,
    networks: [...networks],
    status,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(limits === undefined ? {} : { limits: checkKeyLimits(limits) }),
  }
}
