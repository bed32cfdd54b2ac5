import type { KeyRecord } from '../src/auth/key/keyStore.ts'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import type { LogEntry } from '../src/proxy/log.ts'
import { createMemoryKeyStore } from './createMemoryKeyStore.ts'
import type { MemoryKeyStore } from './createMemoryKeyStore.ts'
import { createTestGateway } from './createTestGateway.ts'
import type { TestGateway, TestOptions } from './createTestGateway.ts'

/** Chain ids used in all tests. */
export const chainIds = { testnet: 31_337, mainnet: 1_337 } as const

/** A gateway on a free port, with one key of each kind. */
export interface StartedGateway {
  readonly gateway: TestGateway
  readonly url: string
  readonly port: number
  readonly keys: MemoryKeyStore
  readonly app: string
  readonly testnetKey: string
  readonly mainnetKey: string
  readonly revokedKey: string
  readonly expiredKey: string
  readonly entries: LogEntry[]
}

/** Port 9 (discard): nothing listens there. */
export const unreachableUrl = 'http://127.0.0.1:9'

/** Starts a gateway in front of upstreams, by network. */
export const startGateway = async (
  upstreams: { testnet: readonly string[]; mainnet?: readonly string[] },
  options: Partial<TestOptions> = {},
): Promise<StartedGateway> => {
  const keys = createMemoryKeyStore()
  const addKey = (kind: 'app' | 'testnet' | 'mainnet', id: string, status: KeyRecord['status'] = 'active'): string => {
    const key = createApiKey(kind)
    keys.add(
      key,
      kind === 'app'
        ? { id, kind: 'app', networks: ['testnet', 'mainnet'], status }
        : { id, kind: 'apiKey', networks: [kind], status },
    )
    return key
  }
  const app = addKey('app', 'app-1')
  const testnetKey = addKey('testnet', 'key-t')
  const mainnetKey = addKey('mainnet', 'key-m')
  const revokedKey = addKey('testnet', 'key-revoked', 'revoked')
  const expiredKey = addKey('testnet', 'key-expired', 'expired')
  const entries: LogEntry[] = []
  const gateway = createTestGateway({
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams: upstreams.testnet.map((url) => ({ url })) },
      mainnet: {
        chainId: chainIds.mainnet,
        upstreams: (upstreams.mainnet ?? [unreachableUrl]).map((url) => ({ url })),
      },
    },
    keys,
    log: (entry) => entries.push(entry),
    ...options,
  })
  const { url, port } = await gateway.listen()
  return { gateway, url, port, keys, app, testnetKey, mainnetKey, revokedKey, expiredKey, entries }
}

/** Posts a body as a program would. */
export const post = async (
  rpcUrl: string,
  body: string | Uint8Array<ArrayBuffer>,
  init: RequestInit = {},
): Promise<{ status: number; headers: Headers; text: string }> => {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...init,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
