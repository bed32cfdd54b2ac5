import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { checkVendors } from '../../src/index.ts'
import { findVendor } from '../../src/lib/vendors.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { unreachableUrl } from '../startGateway.ts'
import { writeConfig } from './serviceProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-vendors-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('asks only the nodes that the config has by the name of their vendor, and shows no key', async () => {
  const node = await startFakeUpstream(1)
  onTestFinished(node.stop)
  vi.spyOn(findVendor('alchemy') as { url: string }, 'url', 'get' as never).mockReturnValue(
    `${node.url}/{network}/{key}` as never,
  )
  const file = writeConfig(folder, {
    publicUrl: 'http://127.0.0.1:1',
    storage: { file: 'keyrail.db' },
    networks: {
      'ethereum-mainnet': { upstreams: [{ url: unreachableUrl, name: 'own' }] },
      'base-mainnet': { upstreams: ['alchemy://ENV:SECOND_KEY'] },
    },
    vendors: { alchemy: { keyEnv: 'FIRST_KEY' } },
  })
  const environment = { FIRST_KEY: 'topsecret-1', SECOND_KEY: 'topsecret-2' }
  const checks = await checkVendors(file, { environment })
  const redactedUrl = `${node.url}/…`
  expect(checks).toEqual([
    { network: 'ethereum-mainnet', upstream: 'alchemy', member: 'url', redactedUrl, problem: undefined },
    {
      network: 'base-mainnet',
      upstream: 'base-mainnet-1',
      member: 'url',
      redactedUrl,
      problem: 'its chain id is 1, not 8453',
    },
  ])
})
