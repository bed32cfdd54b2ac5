import { createApiKey } from '@keyrail/gateway'
import { createTestGateway, createMemoryKeyStore } from '@keyrail/gateway/test/internal.ts'
import type { TestGateway, TestOptions } from '@keyrail/gateway/test/internal.ts'
import { chainIds, unreachableUrl } from '@keyrail/gateway/test/startGateway.ts'

/** An API key that all instances of a test accept. */
export const createKeys = (): { readonly keys: TestOptions['keys']; readonly key: string } => {
  const keys = createMemoryKeyStore()
  const key = createApiKey('testnet')
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  return { keys, key }
}

/** Options of {@link startInstance}. */
export interface InstanceOptions extends Partial<Omit<TestOptions, 'networks' | 'keys'>> {
  readonly keys: TestOptions['keys']
  /** The nodes of testnet. */
  readonly upstreams: TestOptions['networks']['testnet']['upstreams']
  /** @default a free one */
  readonly port?: number
}

/** Starts a gateway in front of nodes. */
export const startInstance = async ({
  upstreams,
  port = 0,
  ...options
}: InstanceOptions): Promise<{ readonly gateway: TestGateway; readonly url: string; readonly port: number }> => {
  const gateway = createTestGateway({
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
    ...options,
  })
  return { gateway, ...(await gateway.listen({ port })) }
}
