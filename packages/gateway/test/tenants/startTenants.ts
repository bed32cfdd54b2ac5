import { createApiKey } from '../../src/index.ts'
import type { GatewayOptions, KeyRecord } from '../../src/index.ts'
import type { KeyLimits } from '../../src/auth/key/keyStore.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, startGateway } from '../startGateway.ts'
import type { StartedGateway } from '../startGateway.ts'
import { fakeMeter, fakeQuota, rates } from './fakes.ts'
import type { FakeMeter, FakeQuota } from './fakes.ts'

/** A time that tests begin at, in the middle of a day. */
export const noon = Date.UTC(2026, 10, 21, 12)

/** A gateway that counts, on a clock that a test moves. */
export interface StartedTenants extends StartedGateway {
  readonly upstream: FakeUpstream
  readonly quota: FakeQuota
  readonly meter: FakeMeter
  readonly clock: { now: number }
  /** Makes an app's key, with what its record says besides. */
  readonly addApp: (more?: Partial<KeyRecord>) => { path: string; key: string }
  /** Makes a testnet key. */
  readonly addApiKey: (more?: Partial<KeyRecord>) => { path: string; key: string }
  readonly stop: () => Promise<void>
}

/** No limit at all, to change one of. */
export const noLimits: KeyLimits = { perSecond: null, burst: 1_000, perDay: null, perMonth: null }

let made = 0

/** Starts a gateway with a quota, rates and a meter, in front of one node. */
export const startTenants = async (
  options: Partial<GatewayOptions> = {},
  { later = false }: { later?: boolean } = {},
): Promise<StartedTenants> => {
  const clock = { now: noon }
  const now = (): number => clock.now
  const quota = fakeQuota({ now })
  const meter = fakeMeter()
  const upstream = await startFakeUpstream(chainIds.testnet)
  const started = await startGateway(
    { testnet: [upstream.url] },
    { now, quota, meter, rates: rates({ now, later }), ...options },
  )
  return {
    ...started,
    upstream,
    quota,
    meter,
    clock,
    addApp: (more = {}) => {
      const key = createApiKey('app')
      made += 1
      const id = `app_${made}`
      started.keys.add(key, {
        id: `key_${made}`,
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
      made += 1
      started.keys.add(key, { id: `key_${made}`, kind: 'apiKey', networks: ['testnet'], status: 'active', ...more })
      return { path: `${started.url}/testnet/${key}`, key }
    },
    stop: async () => {
      await started.gateway.close({ graceMs: 0 })
      await upstream.stop()
    },
  }
}

/** One call's text. */
export const call = (method: string, params = '[]', id = 1): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`

/** A batch of calls, with ids from 1. */
export const batch = (...methods: readonly string[]): string =>
  `[${methods.map((method, index) => call(method, '[]', index + 1)).join(',')}]`

/** What an answer says: its status, and of each call in it the result or the reason of its rejection. */
export const said = ({ status, text }: { status: number; text: string }): unknown => {
  interface Answer {
    readonly result?: unknown
    readonly error?: { readonly data?: { readonly reason?: string } }
  }
  const read = ({ result, error }: Answer): unknown => (error === undefined ? result : error.data?.reason)
  const parsed = JSON.parse(text) as Answer | readonly Answer[]
  return Array.isArray(parsed) ? [status, ...parsed.map(read)] : [status, read(parsed as Answer)]
}
