import type { TestKey } from './testKey.ts'
import { networkNames } from '../../lib/network.ts'
import { getBufferShare } from '../../lib/memoryBudget.ts'
import type { Tenant } from './tenant.ts'

const prefix = 'kr_test_'
const kinds: readonly TestKey[] = ['401', '429', 'quota', 'slow']

/**
 * What a key rehearses, for who builds against the service and wants to see it reject: `kr_test_401` is not known,
 * `kr_test_429` is always over its rate, `kr_test_quota` has used up its day, `kr_test_slow` is answered, but late,
 * where it changes nothing.
 * @returns `undefined` where the key is no such key.
 */
export const parseTestKey = (key: string): TestKey | undefined =>
  key.startsWith(prefix) ? kinds.find((kind) => key === prefix + kind) : undefined

const tenantAs = (testKey: TestKey, kind: 'app' | 'apiKey'): Tenant => ({
  record: { id: `test_${testKey}`, kind, networks: networkNames, status: 'active' },
  ownerId: `test_${testKey}`,
  share: getBufferShare(`test_${testKey}`),
  rate: undefined,
  account: undefined,
  testKey,
})

const tenants: Readonly<Record<'app' | 'apiKey', ReadonlyMap<TestKey, Tenant>>> = {
  app: new Map(kinds.map((testKey) => [testKey, tenantAs(testKey, 'app')])),
  apiKey: new Map(kinds.map((testKey) => [testKey, tenantAs(testKey, 'apiKey')])),
}

/** Who a rehearsal key is, on the path that it came by: it fits either. */
export const toTestTenant = (testKey: TestKey, variant: 'app' | 'apiKey'): Tenant | undefined =>
  tenants[variant].get(testKey)
