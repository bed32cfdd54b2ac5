import type { RateLimits } from '../../usage/rateLimit/rateDecision.ts'
import { toOldKeyId } from '../../storage/toOldKeyId.ts'
import type { MeteredKey } from '../../usage/metering/meter.ts'
import type { Quota } from '../../usage/limits/usageLimits.ts'
import { getBufferShare } from '../../lib/memoryBudget.ts'
import type { BufferShare } from '../../lib/memoryBudget.ts'
import type { Network } from '../../lib/network.ts'
import type { KeyRecord, KeyRate } from './keyStore.ts'

/** The problem that a test key simulates. */
export type TestKey = '401' | '429' | 'quota' | 'slow'

/** A rate, and the bucket that it refills. */
export interface RateBucket {
  readonly id: string
  /** `undefined`: no rate limit. */
  readonly rate: RateLimits | undefined
}

/** The owner, limits and quota of a key record, computed once per record. */
export interface Tenant {
  readonly record: KeyRecord
  /** The owner of the key, who may have several. */
  readonly ownerId: string
  /** The key that calls are counted for. */
  readonly meteredKey: MeteredKey
  /** The memory that all requests of the owner buffer. */
  readonly share: BufferShare
  readonly bucket: RateBucket
  /** On networks that have their own rates; `undefined`: on none. */
  readonly networkBuckets: ReadonlyMap<Network, RateBucket> | undefined
  /** What its calls are charged to; `undefined`: nothing. */
  readonly quota: Quota | undefined
  /** Set for test keys, which are not metered. */
  readonly testKey: TestKey | undefined
}

const tenants = new WeakMap<KeyRecord, Tenant>()

const getQuotaId = ({ id, kind, userId, quotaOwner = userId, appId }: KeyRecord): string => {
  // Without an owner in the record, a key has its own quota.
  if (kind === 'app') return appId === undefined ? `key:${id}` : `app:${appId}`
  return quotaOwner === undefined ? `key:${id}` : `user:${quotaOwner}`
}

/** Without an owner in the record, a key is its own owner. Teams share with the user whose quota they share. */
const getOwnerId = ({ id, userId, quotaOwner = userId }: KeyRecord): string =>
  quotaOwner === undefined ? `key:${id}` : `user:${quotaOwner}`

const toRate = ({ perSecond, burst }: KeyRate): RateLimits | undefined =>
  perSecond === null ? undefined : { perSecond, burst }

/** The bucket of a network with its own rate belongs to key and network, so that a small one is not refilled at another network's rate. */
const toNetworkBuckets = ({ id, limits }: KeyRecord): Tenant['networkBuckets'] =>
  limits?.networks &&
  new Map(
    Object.entries(limits.networks).map(([network, rate]) => [network, { id: `${id}:${network}`, rate: toRate(rate) }]),
  )

/** Returns the rate of a tenant's calls to a network. */
export const getRateBucket = ({ bucket, networkBuckets }: Tenant, network: Network): RateBucket =>
  networkBuckets?.get(network) ?? bucket

/** Returns the tenant of a record. Each app has its own quota; API keys share their user's. */
export const toTenant = (record: KeyRecord): Tenant => {
  const known = tenants.get(record)
  if (known !== undefined) return known
  const { perSecond = null, burst = 1, perDay = null, perMonth = null } = record.limits ?? {}
  const ownerId = getOwnerId(record)
  const tenant: Tenant = {
    record,
    ownerId,
    meteredKey: record.old ? { ...record, id: toOldKeyId(record.id) } : record,
    share: getBufferShare(ownerId),
    bucket: { id: record.id, rate: toRate({ perSecond, burst }) },
    networkBuckets: toNetworkBuckets(record),
    // Calls without a limit are counted too, for the usage display.
    quota: record.limits === undefined ? undefined : { id: getQuotaId(record), perDay, perMonth },
    testKey: undefined,
  }
  tenants.set(record, tenant)
  return tenant
}
