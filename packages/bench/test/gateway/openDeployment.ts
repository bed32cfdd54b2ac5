import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, createService, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import { createTestGateway, createMemoryKeyStore } from '@keyrail/gateway/test/internal.ts'
import type { ControlApi, Service } from '@keyrail/gateway'
import type { TestOptions } from '@keyrail/gateway/test/internal.ts'
import { startFakeUpstream } from '@keyrail/gateway/test/fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from '@keyrail/gateway/test/fakeUpstream.ts'
import { chainIds, unreachableUrl, post } from '@keyrail/gateway/test/startGateway.ts'
import { createVisitor } from '@keyrail/gateway/test/visitor.ts'
import type { Visitor } from '@keyrail/gateway/test/visitor.ts'

/** Bounds that a test can reach. */
const bounds = { maxBodyBytes: 10_000, maxBatchCalls: 5 }

/** A service with accounts, apps and keys. */
export interface Deployment {
  readonly service: Service
  readonly port: number
  readonly node: FakeUpstream
  /** A user who signed up. */
  readonly ann: Visitor
  /** The path of a key of a disabled user. */
  readonly disabledPath: string
  /** Creates an app of Ann, and changes it. @returns Its id, its key and its path. */
  readonly makeApp: (
    changes?: Partial<ControlApi['PATCH /api/apps/{appId}']['body']>,
  ) => Promise<{ readonly id: string; readonly apiKey: string; readonly path: string }>
  /** Creates an API key of Ann for testnet. */
  readonly makeKey: () => Promise<{ readonly id: string; readonly apiKey: string; readonly path: string }>
  readonly close: () => Promise<void>
}

const password = randomBytes(12).toString('base64url')

/** Starts a service on SQLite in front of a node, and signs two users up over HTTP. */
export async function openDeployment(quotaStatus: 403 | 429 = 403): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-rejections-'))
  const node = await startFakeUpstream(chainIds.testnet)
  const operatorToken = randomBytes(32).toString('base64url')
  const { publicUrl: _, ...config } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    networks: {
      testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node.url }] },
      mainnet: { chain: 'testland', chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
    limits: { appsPerUser: 1_000 },
    services: { debug: true },
    bounds,
    quotaStatus,
  })
  const service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(48).toString('base64url') }),
    storage: { file: join(folder, 'keyrail.db') },
    operatorToken,
  })
  const { url, port } = await service.listen({ host: '127.0.0.1', port: 0 })

  const createKey = async (visitor: Visitor) => {
    const { key, apiKey } = await visitor.get('POST /api/keys', { body: { name: 'a key', network: 'testnet' } })
    return { id: key.id, apiKey, path: `/testnet/${apiKey}` }
  }
  const [ann, bob] = [createVisitor(url), createVisitor(url)]
  await ann.get('POST /api/account', { body: { email: 'ann@example.org', password } })
  const { account } = await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
  const disabledPath = (await createKey(bob)).path
  const operator = createVisitor(url)
  const { status } = await operator.request(
    'POST',
    `/api/admin/users/${account.id}/disable`,
    {},
    { authorization: `Bearer ${operatorToken}` },
  )
  if (status !== 200) throw new Error(`the operator was rejected with ${status}`)

  let made = 0
  return {
    service,
    port,
    node,
    ann,
    disabledPath,
    makeApp: async (changes = {}) => {
      const { app, apiKey } = await ann.get('POST /api/apps', {
        body: { name: `app ${(made += 1)}`, useCase: 'Other', chain: 'testland', services: ['Node API'] },
      })
      if (Object.keys(changes).length > 0)
        await ann.get('PATCH /api/apps/{appId}', {
          params: { appId: app.id },
          body: { version: app.version, ...changes },
        })
      return { id: app.id, apiKey, path: `/testnet/v2/${apiKey}` }
    },
    makeKey: () => createKey(ann),
    close: async () => {
      await service.close({ graceMs: 0 })
      await node.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a service, makes it cache a key, and closes its database. */
export async function openLost(): Promise<Deployment & { readonly knownPath: string }> {
  const deployment = await openDeployment()
  const { path } = await deployment.makeApp()
  // This call is rejected before limits are checked, so the service caches the key without its limits.
  await post(`http://127.0.0.1:${deployment.port}${path}`, '{"jsonrpc":"2.0","id":1,"method":"eth_sign"}')
  await deployment.service.storage.close()
  return { ...deployment, knownPath: path }
}

/** A data plane without a control API, with one key for testnet. */
export interface TestGateway {
  readonly port: number
  readonly path: string
  readonly node: FakeUpstream
  /** Starts to drain it. */
  readonly drain: () => void
  readonly close: () => Promise<void>
}

/** Starts a gateway in front of a node with the given behaviour. */
export async function openTestGateway(behave?: Behaviour, options: Partial<TestOptions> = {}): Promise<TestGateway> {
  const node = await startFakeUpstream(chainIds.testnet)
  if (behave !== undefined) node.behave = behave
  const keys = createMemoryKeyStore()
  const key = createApiKey('testnet')
  keys.add(key, { id: 'key-1', kind: 'apiKey', networks: ['testnet'], status: 'active' })
  const gateway = createTestGateway({
    networks: {
      testnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url }] },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: unreachableUrl }] },
    },
    keys,
    ...options,
  })
  const { port } = await gateway.listen()
  return {
    port,
    path: `/testnet/${key}`,
    node,
    drain: () => void gateway.close({ graceMs: 5_000 }),
    close: async () => {
      await gateway.close({ graceMs: 0 })
      await node.stop()
    },
  }
}
