import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { Service } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

const noon = Date.UTC(2026, 10, 21, 12)

/** The limits of a config, and those of its main network. */
export interface TestLimits {
  readonly limits?: ServiceConfigInput['limits']
  readonly mainnet?: Pick<ServiceConfigInput['networks'][string], 'limits' | 'bounds'>
}

/** A service with one account. */
export interface LimitedService {
  readonly service: Service
  readonly visitor: Visitor
  readonly userId: string
  readonly reload: (limits: TestLimits) => Promise<readonly string[]>
  /** Gets the lines of a metric. */
  readonly getMetric: (name: string) => Promise<string[]>
  /** Creates an app. @returns Its id, its version, and the URLs of its key. */
  readonly createApp: () => Promise<{ id: string; version: number; url: string; mainnetUrl: string }>
}

/** A config with two networks of one chain. */
export const toLimitsConfig = (node: string, { limits = {}, mainnet = {} }: TestLimits): ServiceConfigInput => {
  const network = { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node }] }
  return {
    publicUrl: 'http://localhost',
    listen: { port: 0 },
    prometheus: { port: 0 },
    signUp: 'open',
    networks: { testnet: network, mainnet: { ...network, ...mainnet } },
    limits,
  }
}

/** A folder that is removed when the test ends. */
export const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-limits-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a service, whose clock does not move. It stops when the test ends. */
export const startLimitedService = async (limits: TestLimits): Promise<LimitedService> => {
  const folder = createFolder()
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  const configWith = (given: TestLimits) => {
    // The port is only known once the service listens.
    const { publicUrl: _, ...config } = parseServiceConfig(toLimitsConfig(node.url, given))
    return config
  }
  const service = await createService({
    config: configWith(limits),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
    now: () => noon,
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  const { url, prometheusPort } = await service.listen()
  const visitor = createVisitor(url)
  const { account } = await visitor.get('POST /api/account', {
    body: { email: 'ann@example.org', password: 'plum tin roof gate' },
  })
  return {
    service,
    visitor,
    userId: account.id,
    reload: (given) => service.reload(configWith(given)),
    getMetric: async (name) => {
      const text = await (await fetch(`http://127.0.0.1:${prometheusPort}/metrics`)).text()
      return text.split('\n').filter((line) => line.startsWith(`${name}{`))
    },
    createApp: async () => {
      const { app, urls } = await visitor.get('POST /api/apps', {
        body: { name: 'Shop', useCase: 'Defi', chain: 'testland', services: ['Node API'] },
      })
      const { testnet = '', mainnet = '' } = urls
      return { id: app.id, version: app.version, url: testnet, mainnetUrl: mainnet }
    },
  }
}
