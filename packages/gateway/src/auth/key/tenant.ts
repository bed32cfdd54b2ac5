import type { RateLimits } from '../../usage/rateLimit/rateLimiter.ts'
import type { QuotaAccount } from '../../usage/quota/quota.ts'
import { getBufferShare } from '../../lib/memoryBudget.ts'
import type { BufferShare } from '../../lib/memoryBudget.ts'
import type { KeyRecord } from './keyStore.ts'
import type { TestKey } from './testKey.ts'

/** What a key's record means for limits and metering: worked out once for each record. */
export interface Tenant {
  readonly record: KeyRecord
  /** Who has the key, perhaps with others. */
  readonly ownerId: string
  /** What all requests of the owner keep in memory. */
  readonly share: BufferShare
  /** `undefined`: no rate. */
  readonly rate: RateLimits | undefined
  /** Whose quota is used; `undefined`: none. */
  readonly account: QuotaAccount | undefined
  /** What a rehearsal key plays; such a key is not metered. */
  readonly testKey: TestKey | undefined
}

const tenants = new WeakMap<KeyRecord, Tenant>()

const accountId = ({ id, kind, userId, quotaOwner = userId, appId }: KeyRecord): string => {
  // Where a store does not say whose a key is, it stands for itself.
  if (kind === 'app') return appId === undefined ? `key:${id}` : `app:${appId}`
  return quotaOwner === undefined ? `key:${id}` : `user:${quotaOwner}`
}

/** Where a store does not say whose a key is, it has itself. */
const ownerId = ({ id, userId }: KeyRecord): string => (userId === undefined ? `key:${id}` : `user:${userId}`)

/** The tenant of a record. An app has a quota of its own; API keys share their user's. */
export const tenantOf = (record: KeyRecord): Tenant => {
  const known = tenants.get(record)
  if (known !== undefined) return known
  const { perSecond = null, burst = 1, perDay = null, perMonth = null } = record.limits ?? {}
  const owner = ownerId(record)
  const tenant: Tenant = {
    record,
    ownerId: owner,
    share: getBufferShare(owner),
    rate: perSecond === null ? undefined : { perSecond, burst },
    // What has no limit is counted all the same: its owner wants to see it.
    account: record.limits === undefined ? undefined : { id: accountId(record), perDay, perMonth },
    testKey: undefined,
  }
  tenants.set(record, tenant)
  return tenant
}
