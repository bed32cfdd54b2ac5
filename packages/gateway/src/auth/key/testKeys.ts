import { getBufferShare } from '../../lib/memoryBudget.ts'
import { parseOrigin } from '../allowList/originRule.ts'
import type { Tenant, TestKey } from './tenant.ts'

const prefix = 'kr_test_'
const kinds: readonly TestKey[] = ['401', '429', 'quota', 'slow']

/**
 * Parses a test key. Developers use test keys to see how their client handles rejections: `kr_test_401` is an unknown key, `kr_test_429` is
 * always over its rate limit, `kr_test_quota` has used up its daily quota, `kr_test_slow` gets late responses to read-only calls.
 * @returns `undefined` for any other key.
 */
export const parseTestKey = (key: string): TestKey | undefined =>
  key.startsWith(prefix) ? kinds.find((kind) => key === prefix + kind) : undefined

const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a page may use test keys: one of the service itself, or of this machine, on any port. Callers that are no web page send no origin.
 * The `Host` header does not count: with DNS rebinding, an attacker chooses it.
 * @param header - The `Origin` header.
 * @param own - The origin of the service, if it has a public URL.
 */
export const mayUseTestKey = (header: string | undefined, own: string | undefined): boolean => {
  if (header === undefined) return true
  const origin = parseOrigin(header)
  if (origin === undefined) return false
  const isWeb = origin.scheme === 'http' || origin.scheme === 'https'
  // An origin that is no URL, such as `http://1.2.3.999`, is never that of a service, also of one without a public URL.
  return isWeb && (loopbackHosts.has(origin.host) || (own !== undefined && URL.parse(header)?.origin === own))
}

const createTestTenant = (testKey: TestKey, kind: 'app' | 'apiKey'): Tenant => {
  const id = `test_${testKey}`
  return {
    record: { id, kind, networks: [], status: 'active' },
    ownerId: id,
    meteredKey: { id },
    share: getBufferShare(id),
    bucket: { id, rate: undefined },
    networkBuckets: undefined,
    quota: undefined,
    testKey,
  }
}

const tenants: Readonly<Record<'app' | 'apiKey', ReadonlyMap<TestKey, Tenant>>> = {
  app: new Map(kinds.map((testKey) => [testKey, createTestTenant(testKey, 'app')])),
  apiKey: new Map(kinds.map((testKey) => [testKey, createTestTenant(testKey, 'apiKey')])),
}

/** Returns the tenant of a test key. Test keys work on both kinds of paths. */
export const toTestTenant = (testKey: TestKey, variant: 'app' | 'apiKey'): Tenant | undefined =>
  tenants[variant].get(testKey)
