import type { Rehearsal } from './testKey.ts'
import { networkNames } from '../../lib/network.ts'
import { keptShareOf } from '../../lib/memoryBudget.ts'
import type { Tenant } from './tenant.ts'

const prefix = 'kr_rehearse_'
const kinds: readonly Rehearsal[] = ['401', '429', 'quota', 'slow']

/**
 * What a key rehearses, for who builds against the service and wants to see it refuse: `kr_rehearse_401` is not known,
 * `kr_rehearse_429` is always over its rate, `kr_rehearse_quota` has used up its day, `kr_rehearse_slow` is answered, but late,
 * where it changes nothing.
 * @returns `undefined` where the key is no such key.
 */
export const rehearsalOf = (key: string): Rehearsal | undefined =>
  key.startsWith(prefix) ? kinds.find((kind) => key === prefix + kind) : undefined

const tenantAs = (rehearsal: Rehearsal, kind: 'app' | 'apiKey'): Tenant => ({
  record: { id: `rehearse_${rehearsal}`, kind, networks: networkNames, status: 'active' },
  ownerId: `rehearse_${rehearsal}`,
  share: keptShareOf(`rehearse_${rehearsal}`),
  rate: undefined,
  account: undefined,
  rehearsal,
})

const tenants: Readonly<Record<'app' | 'apiKey', ReadonlyMap<Rehearsal, Tenant>>> = {
  app: new Map(kinds.map((rehearsal) => [rehearsal, tenantAs(rehearsal, 'app')])),
  apiKey: new Map(kinds.map((rehearsal) => [rehearsal, tenantAs(rehearsal, 'apiKey')])),
}

/** Who a rehearsal key is, on the path that it came by: it fits either. */
export const rehearsalTenant = (rehearsal: Rehearsal, variant: 'app' | 'apiKey'): Tenant | undefined =>
  tenants[variant].get(rehearsal)
