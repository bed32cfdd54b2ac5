import { createApiKey, createGateway, createMemoryKeyStore } from '@keyrail/gateway'
import { startFloor } from './floor.ts'

/** Something in front of the node, and the paths by which it may be asked. */
export interface Door {
  readonly url: string
  readonly paths: Readonly<Record<string, readonly string[]>>
  /** What is sent with them, where that is not all alike. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const open = async (upstream: string): Promise<Door> => {
  const keys = createMemoryKeyStore()
  const key = createApiKey('testnet')
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const gateway = createGateway({
    networks: {
      testnet: { chainId: 1, upstreams: [{ url: upstream }] },
      mainnet: { chainId: 1, upstreams: [{ url: upstream }] },
    },
    keys,
  })
  const { url } = await gateway.listen()
  return { url, paths: { good: [`/testnet/${key}`], unknown: [`/testnet/${createApiKey('testnet')}`] } }
}

const floor = async (upstream: string, parse: boolean): Promise<Door> => ({
  url: await startFloor(upstream, { parse }),
  paths: { good: ['/'] },
})

/** What is measured, by name. */
export const doors: Readonly<Record<string, (upstream: string) => Promise<Door>>> = {
  floor: (upstream) => floor(upstream, false),
  floorParsing: (upstream) => floor(upstream, true),
  gateway: open,
}
