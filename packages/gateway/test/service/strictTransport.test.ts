import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { chainIds, unreachableUrl } from '../startGateway.ts'

const start = async (publicUrl: string): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-https-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const upstreams = [{ url: unreachableUrl }]
  const service = await createService({
    config: parseServiceConfig({
      publicUrl,
      listen: { port: 0 },
      networks: {
        testnet: { chainId: chainIds.testnet, upstreams },
        mainnet: { chainId: chainIds.mainnet, upstreams },
      },
    }),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  return (await service.listen()).port
}
const send = (port: number, method: string, path: string, host = 'rpc.example.org') =>
  new Promise<readonly [number | undefined, unknown]>((resolve, reject) => {
    const headers = { host, connection: 'close', 'content-type': 'application/json' }
    const outgoing = request({ port, host: '127.0.0.1', method, path, headers }, (response: IncomingMessage) => {
      response.resume()
      resolve([response.statusCode, response.headers['strict-transport-security']])
    })
    outgoing.on('error', reject)
    outgoing.end(method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' : undefined)
  })

test.each([
  ['https://rpc.example.org', 'max-age=31536000'],
  ['http://rpc.example.org', undefined],
])(
  'a service at %s sends Strict-Transport-Security on all paths: %s',
  async (publicUrl, header) => {
    const port = await start(publicUrl)
    expect(await send(port, 'GET', '/')).toEqual([200, header])
    expect(await send(port, 'GET', '/api/deployment')).toEqual([200, header])
    expect(await send(port, 'GET', '/api/nothing')).toEqual([404, header])
    expect(await send(port, 'POST', '/testnet/none')).toEqual([401, header])
    expect(await send(port, 'OPTIONS', '/testnet/none')).toEqual([204, header])
    expect(await send(port, 'GET', '/healthz')).toEqual([200, header])
    // Not for another host name.
    expect(await send(port, 'GET', '/api/deployment', 'other.example.org')).toEqual([421, undefined])
  },
  60_000,
)
