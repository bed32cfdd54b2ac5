import { createApiKey, createGateway, createMemoryKeyStore } from '@keyrail/gateway'
import type { Gateway, GatewayOptions } from '@keyrail/gateway'
import { chainIds, unreachableUrl } from '@keyrail/gateway/test/startGateway.ts'

/** An API key that all instances of a test accept. */
export const createKeys = (): { readonly keys: GatewayOptions['keys']; readonly key: string } => {
  const keys = createMemoryKeyStore()
  const key = createApiKey('testnet')
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  return { keys, key }
}

/** Options of {@link startInstance}. */
export interface InstanceOptions extends Partial<Omit<GatewayOptions, 'networks' | 'keys'>> {
  readonly keys: GatewayOptions['keys']
  /** The nodes of testnet. */
  readonly upstreams: GatewayOptions['networks']['testnet']['upstreams']
  /** @default a free one */
  readonly port?: number
}

/** Starts a gateway in front of nodes. */
export const startInstance = async ({
  upstreams,
  port = 0,
  ...options
}: InstanceOptions): Promise<{ readonly gateway: Gateway; readonly url: string; readonly port: number }> => {
  const gateway = createGateway({
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
    ...options,
  })
  return { gateway, ...(await gateway.listen({ port })) }
}
