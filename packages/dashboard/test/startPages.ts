import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { createService, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import type { Service } from '@keyrail/gateway'
import type { ServiceConfigInput } from '@keyrail/gateway/test/internal.ts'
import { borrowPages } from './lendPages.ts'

/** The service with the built pages, in front of two nodes. */
export interface Pages {
  readonly url: string
  readonly service: Service
  /** The node of the test network. */
  readonly node: string
  /** The node of the main network. */
  readonly mainnetNode: string
  /** Takes another config, as an operator would. */
  readonly reload: (change: Partial<ServiceConfigInput>) => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Starts the service that serves the built pages.
 * @param now - The clock of the service, in milliseconds since 1970. @default Date.now
 */
export async function startPages(
  given: Partial<ServiceConfigInput> = {},
  now: () => number = Date.now,
): Promise<Pages> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-dashboard-'))
  const [testnet, mainnet, folder] = await Promise.all([
    startAnvil('--chain-id', '11155111'),
    startAnvil('--chain-id', '1'),
    borrowPages(join(room, 'pages')),
  ])
  const createConfig = (change: Partial<ServiceConfigInput>) => {
    // The URL is only known once the service listens.
    const { publicUrl: _, ...config } = parseServiceConfig({
      publicUrl: 'http://localhost',
      listen: { host: '127.0.0.1', port: 0 },
      dashboard: { folder },
      signUp: 'open',
      networks: {
        testnet: { chainId: 11155111, upstreams: [{ url: testnet.url }] },
        mainnet: { chainId: 1, upstreams: [{ url: mainnet.url }] },
      },
      ...given,
      ...change,
    })
    return config
  }
  const service = await createService({
    config: createConfig({}),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(36).toString('base64') }),
    storage: { file: join(room, 'keyrail.sqlite') },
    now,
  })
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    service,
    node: testnet.url,
    mainnetNode: mainnet.url,
    reload: async (change) => {
      await service.reload(createConfig(change))
    },
    stop: async () => {
      await service.close({ graceMs: 1_000 })
      await Promise.all([testnet.stop(), mainnet.stop()])
      rmSync(room, { recursive: true, force: true })
    },
  }
}
