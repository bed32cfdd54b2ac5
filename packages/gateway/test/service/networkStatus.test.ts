import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { createVisitor } from './visitor.ts'

const startNode = async (chainId: number): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainId)
  onTestFinished(node.stop)
  return node
}

test('a user gets the counts of the nodes of each network, also after a reload, without their names and URLs', async () => {
  const [testnet, mainnet] = [await startNode(chainIds.testnet), await startNode(chainIds.mainnet)]
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-status-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await getFreePort()
  const configWith = (networks: ServiceConfigInput['networks']) =>
    parseServiceConfig({ publicUrl: `http://127.0.0.1:${port}`, listen: { port }, signUp: 'open', networks })
  const service = await createService({
    config: configWith({
      testnet: {
        chainId: chainIds.testnet,
        upstreams: [{ url: testnet.url }, { url: mainnet.url, name: 'other chain' }, { url: 'http://127.0.0.1:9' }],
      },
      mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: mainnet.url }] },
    }),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  const { url } = await service.listen()
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  expect(await visitor.get('GET /api/networks/status')).toEqual({
    networks: [
      { network: 'testnet', nodes: { healthy: 1, lagging: 0, down: 2 }, isOfAccount: false },
      { network: 'mainnet', nodes: { healthy: 1, lagging: 0, down: 0 }, isOfAccount: false },
    ],
  })

  await service.reload(
    configWith({ testnet: { chainId: chainIds.testnet, upstreams: [{ url: 'http://127.0.0.1:9' }] } }),
  )
  expect(await visitor.get('GET /api/networks/status')).toEqual({
    networks: [{ network: 'testnet', nodes: { healthy: 0, lagging: 0, down: 1 }, isOfAccount: false }],
  })
})
