import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { parseServiceConfig } from '@keyrail/gateway'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listenDefaults } from '../src/commands/health.ts'
import type { CliRun } from './runCli.ts'
import { runHere } from './runHere.ts'

let folder = ''
const servers: Server[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
})
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true, force: true })
})

/** Answers as a service does whose nodes are all dead. */
const deadNodes: RequestListener = ({ url }, response) => {
  response.writeHead(url === '/healthz' ? 200 : 503).end()
}
const start = async (server: Server, host = '127.0.0.1'): Promise<number> => {
  servers.push(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  return (server.address() as AddressInfo).port
}
const health = (config: unknown, ...words: string[]): Promise<CliRun> => {
  const file = join(folder, 'keyrail.config.json')
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config))
  return runHere(['health', '--config', file, ...words])
}

describe('keyrail health', () => {
  test('asks whether the process is alive, not whether it is ready', async () => {
    const port = await start(createServer(deadNodes))
    expect(await health({ listen: { port } })).toEqual({
      exitCode: 0,
      stdout: `the service at http://127.0.0.1:${port} is alive\n`,
      stderr: '',
    })
  })

  test.each([['0.0.0.0'], ['::'], ['127.0.0.1'], ['::1'], ['localhost']])('follows the interface %s', async (host) => {
    const port = await start(createServer(deadNodes), host)
    expect(await health({ listen: { host, port } })).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('follows tls, with a certificate for another name', async () => {
    const { certFile, keyFile, cert, key } = createCertificate(folder, 'rpc.example.org')
    const port = await start(createTlsServer({ key, cert }, deadNodes))
    const tls = { certFile, keyFile }
    expect(await health({ listen: { port }, tls })).toMatchObject({
      exitCode: 0,
      stdout: `the service at https://127.0.0.1:${port} is alive\n`,
    })
    expect(await health({ listen: { port } })).toMatchObject({ exitCode: 1, stdout: '' })
  })

  test('needs no more of the config than where the service listens', async () => {
    const port = await start(createServer(deadNodes))
    // A running service keeps its old config while the new one has a fault.
    expect(await health({ listen: { port }, publicUrl: 5, nodes: 'no' })).toMatchObject({ exitCode: 0 })
  })

  test('takes the same defaults as the service', () => {
    const { listen } = parseServiceConfig({
      publicUrl: 'http://127.0.0.1:8080',
      chain: { name: 'Testland', symbol: 'TST' },
      networks: {
        testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9' }] },
        mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:9' }] },
      },
    })
    expect(listenDefaults).toEqual(listen)
  })

  test.each<[string, RequestListener, string]>([
    ['answers otherwise', (_, response) => void response.writeHead(503).end(), 'answered 503'],
    ['is something else', (_, response) => void response.writeHead(404).end(), 'answered 404'],
    ['ends the connection', ({ socket }) => void socket.destroy(), 'did not answer: '],
    ['never answers', () => {}, 'did not answer within 0.1 s'],
  ])('fails where the service %s', async (_, answer, message) => {
    const port = await start(createServer(answer))
    const run = await health({ listen: { port } }, '--timeout', '100')
    // Docker knows 0 and 1 only.
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain(`http://127.0.0.1:${port} ${message}`)
  })

  test.each<[string, unknown, string]>([
    ['is not JSON', '{', 'is not JSON'],
    ['is no object', '[]', 'has no object'],
    ['has a listen that is none', { listen: { port: 'x' } }, 'listen.port'],
    ['has a host that is none', { listen: { host: 5, port: 1 } }, 'listen.host'],
    ['takes a free port', { listen: { port: 0 } }, 'listen.port is 0'],
  ])('fails where the config %s', async (_, config, message) => {
    const run = await health(config)
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain(message)
  })

  test('fails where there is no config, and where nothing listens', async () => {
    const missing = await runHere(['health', '--config', join(folder, 'none.json')])
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missing.stderr).toContain('none.json')
    const port = await start(createServer(deadNodes))
    servers.pop()?.close()
    const run = await health({ listen: { port } })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain('ECONNREFUSED')
  })
})
