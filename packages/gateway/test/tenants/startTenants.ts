import { onTestFinished } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import type { TestOptions } from '../createTestGateway.ts'
import type { KeyLimits, KeyRecord } from '../../src/auth/key/keyStore.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, startGateway } from '../startGateway.ts'
import type { StartedGateway } from '../startGateway.ts'
import { createFakeLimits, createFakeMeter } from './fakes.ts'
import type { FakeLimits, FakeMeter } from './fakes.ts'

/** The start time of tests, in the middle of a day. */
export const noon = Date.UTC(2026, 10, 21, 12)

/** A gateway with limits and metering, on a clock that the test controls. */
export interface StartedTenants extends StartedGateway {
  readonly upstream: FakeUpstream
  readonly usageLimits: FakeLimits
  readonly meter: FakeMeter
  readonly clock: { now: number }
  /** Creates the key of an app, with further members of its record. */
  readonly addApp: (more?: Partial<KeyRecord>) => { path: string; key: string }
  /** Creates a testnet API key. */
  readonly addApiKey: (more?: Partial<KeyRecord>) => { path: string; key: string }
  readonly stop: () => Promise<void>
}

/** No limits, to spread and override. */
export const noLimits: KeyLimits = { perSecond: null, burst: 1_000, perDay: null, perMonth: null }

let keyCount = 0

/** Starts a gateway with a quota, rate limits and a meter, in front of one node. */
export const startTenants = async (
  options: Partial<TestOptions> = {},
  { later = false }: { later?: boolean } = {},
): Promise<StartedTenants> => {
  const clock = { now: noon }
  const now = (): number => clock.now
  const usageLimits = createFakeLimits({ now, later })
  const meter = createFakeMeter()
  const upstream = await startFakeUpstream(chainIds.testnet)
  const started = await startGateway({ testnet: [upstream.url] }, { now, usageLimits, meter, ...options })
  return {
    ...started,
    upstream,
    usageLimits,
    meter,
    clock,
    addApp: (more = {}) => {
      const key = createApiKey('app')
      keyCount += 1
      const id = `app_${keyCount}`
      started.keys.add(key, {
        id: `key_${keyCount}`,
        kind: 'app',
        networks: ['testnet', 'mainnet'],
        status: 'active',
        appId: id,
        services: ['Node API'],
        ...more,
      })
      return { path: `${started.url}/testnet/v2/${key}`, key }
    },
    addApiKey: (more = {}) => {
      const key = createApiKey('testnet')
      keyCount += 1
      started.keys.add(key, { id: `key_${keyCount}`, kind: 'apiKey', networks: ['testnet'], status: 'active', ...more })
      return { path: `${started.url}/testnet/${key}`, key }
    },
    stop: async () => {
      await started.gateway.close({ graceMs: 0 })
      await upstream.stop()
    },
  }
}

/** Starts a gateway like {@link startTenants}, which stops when the test finishes. */
export const openTenants = async (...args: Parameters<typeof startTenants>): Promise<StartedTenants> => {
  const started = await startTenants(...args)
  onTestFinished(started.stop)
  return started
}

/** The body of one call. */
export const call = (method: string, params = '[]', id = 1): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`

/** The body of a batch, with ids from 1. */
export const batch = (...methods: readonly string[]): string =>
  `[${methods.map((method, index) => call(method, '[]', index + 1)).join(',')}]`

/** Summarizes a response: the status, and for each call its result or the reason of its rejection. */
export const summarize = ({ status, text }: { status: number; text: string }): unknown => {
  interface RpcResponse {
    readonly result?: unknown
    readonly error?: { readonly data?: { readonly reason?: string } }
  }
  const read = ({ result, error }: RpcResponse): unknown => (error === undefined ? result : error.data?.reason)
  const parsed = JSON.parse(text) as RpcResponse | readonly RpcResponse[]
  return Array.isArray(parsed) ? [status, ...parsed.map(read)] : [status, read(parsed as RpcResponse)]
}
