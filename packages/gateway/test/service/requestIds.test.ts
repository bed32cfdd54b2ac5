import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { ServiceLogEntry } from '../../src/service/serviceLog.ts'
import { chainIds, unreachableUrl } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'

/** Starts a service whose API and dashboard use the port of the networks, or their own. */
const start = async ({ ownPort, trustedProxies }: { ownPort: boolean; trustedProxies: readonly string[] }) => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-ids-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const upstreams = [{ url: unreachableUrl }]
  const [port, controlPort] = [await getFreePort(), await getFreePort()]
  const site = `http://127.0.0.1:${ownPort ? controlPort : port}`
  const entries: ServiceLogEntry[] = []
  const service = await createService({
    config: parseServiceConfig({
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      ...(ownPort ? { control: { publicUrl: site, listen: { port: controlPort } } } : {}),
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams },
        mainnet: { chainId: chainIds.mainnet, upstreams },
      },
      trustedProxies,
    }),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
    log: (entry) => void entries.push(entry),
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  await service.listen()
  const getId = async (url: string, id: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(url, { ...init, headers: { 'content-type': 'application/json', 'x-request-id': id } })
    await response.text()
    return response.headers.get('x-request-id')
  }
  return { networks: `http://127.0.0.1:${port}`, site, entries, getId }
}

test.each([
  ['one port', false],
  ['a separate port for the API', true],
])('a service on %s uses the X-Request-Id of a trusted proxy for all requests', async (_, ownPort) => {
  const { networks, site, entries, getId } = await start({ ownPort, trustedProxies: ['127.0.0.1'] })
  const call = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' }
  expect(await getId(`${networks}/testnet/none`, 'rpc-1', call)).toBe('rpc-1')
  expect(await getId(`${site}/api/deployment`, 'api-1')).toBe('api-1')
  expect(await getId(`${site}/api/nothing`, 'api-2')).toBe('api-2')
  expect(await getId(`${site}/`, 'page-1')).toBe('page-1')
  expect(await getId(`${site}/api/deployment`, 'not valid')).toMatch(/^[0-9a-f-]{36}$/)
  const logged = (): unknown[] => entries.map((entry) => ('requestId' in entry ? entry.requestId : undefined))
  await expect.poll(logged).toEqual(expect.arrayContaining(['rpc-1', 'api-1', 'api-2', 'page-1']))
})

test.each([
  ['one port', false],
  ['a separate port for the API', true],
])('a service on %s without trusted proxies ignores X-Request-Id', async (_, ownPort) => {
  const { networks, site, getId } = await start({ ownPort, trustedProxies: [] })
  for (const url of [`${networks}/healthz`, `${site}/api/deployment`, `${site}/`])
    expect(await getId(url, 'mine')).toMatch(/^[0-9a-f-]{36}$/)
})
