import { createApiKey } from '@keyrail/gateway'
import { createTestGateway, createMemoryKeyStore } from '@keyrail/gateway/test/internal.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'

/** The service in front of a node, with a key of each kind. */
export interface Service {
  readonly chainId: number
  /** The endpoint of an app. */
  readonly app: { readonly baseUrl: string; readonly apiKey: string; readonly chainId: number }
  /** The endpoint of an API key. */
  readonly key: { readonly rpcUrl: string; readonly apiKey: string; readonly chainId: number }
  /** The method of each request, in order; `batch` for a batch. */
  readonly methods: string[]
  /** Calls the node directly, for methods that the service rejects, such as mining blocks and setting balances. */
  readonly node: (method: string, params?: readonly unknown[]) => Promise<unknown>
  /** The URL of the node. */
  readonly nodeUrl: string
  readonly stop: () => Promise<void>
}

/** Starts an anvil and a gateway in front of it. */
export async function startService(chainId = 31_337): Promise<Service> {
  const anvil = await startAnvil('--chain-id', String(chainId))
  const keys = createMemoryKeyStore()
  const app = createApiKey('app')
  const key = createApiKey('testnet')
  keys.add(app, { id: 'app-1', kind: 'app', networks: ['testnet'], status: 'active' })
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const methods: string[] = []
  const gateway = createTestGateway({
    networks: {
      testnet: { chainId, upstreams: [{ url: anvil.url }] },
      // Port 9 (discard): nothing listens there.
      mainnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9' }] },
    },
    keys,
    log: (entry) => {
      if (entry.event === 'request') methods.push(entry.method ?? 'none')
    },
  })
  const { url } = await gateway.listen()
  return {
    chainId,
    app: { baseUrl: `${url}/testnet`, apiKey: app, chainId },
    key: { rpcUrl: `${url}/testnet`, apiKey: key, chainId },
    nodeUrl: anvil.url,
    methods,
    node: async (method, params = []) => {
      const response = await fetch(anvil.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
      if (error) throw new Error(`${method}: ${error.message}`)
      return result
    },
    stop: async () => {
      await gateway.close()
      await anvil.stop()
    },
  }
}
