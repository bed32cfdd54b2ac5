import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { parseServiceConfig, readServiceConfig } from '@keyrail/gateway'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { listenDefaults } from '../src/commands/health.ts'
import type { CliRun } from './runCli.ts'
import { runHere } from './runHere.ts'

let folder = ''
const servers: Server[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true, force: true })
})

/** Responds like a service whose nodes are all down. */
const notReady: RequestListener = ({ url }, response) => {
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
  test('checks that the process is alive, not that it is ready', async () => {
    const port = await start(createServer(notReady))
    expect(await health({ listen: { port } })).toEqual({
      exitCode: 0,
      stdout: `the service at http://127.0.0.1:${port} is alive\n`,
      stderr: '',
    })
  })

  test.each([['0.0.0.0'], ['::'], ['127.0.0.1'], ['::1'], ['localhost']])(
    'connects to the interface %s',
    async (host) => {
      const port = await start(createServer(notReady), host)
      expect(await health({ listen: { host, port } })).toMatchObject({ exitCode: 0, stderr: '' })
    },
  )

  test('supports tls, with a certificate for another name', async () => {
    const { certFile, keyFile, cert, key } = createCertificate(folder, 'rpc.example.org')
    const port = await start(createTlsServer({ key, cert }, notReady))
    const tls = { certFile, keyFile }
    expect(await health({ listen: { port }, tls })).toMatchObject({
      exitCode: 0,
      stdout: `the service at https://127.0.0.1:${port} is alive\n`,
    })
    expect(await health({ listen: { port } })).toMatchObject({ exitCode: 1, stdout: '' })
  })

  test('adds KEYRAIL_PORT_OFFSET to the port', async () => {
    const port = await start(createServer(notReady))
    vi.stubEnv('KEYRAIL_PORT_OFFSET', '2')
    expect(await health({ listen: { port: port - 2 } })).toMatchObject({
      exitCode: 0,
      stdout: `the service at http://127.0.0.1:${port} is alive\n`,
    })
  })

  test.each(['-2', '1.5', '65536', 'two', '65530'])(
    'rejects the KEYRAIL_PORT_OFFSET %j as the service does',
    async (variable) => {
      vi.stubEnv('KEYRAIL_PORT_OFFSET', variable)
      const networks = { testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9' }] } }
      const { exitCode, stderr } = await health({
        publicUrl: 'http://127.0.0.1:8080',
        networks,
        listen: { port: 8080 },
      })
      const read = () =>
        readServiceConfig(join(folder, 'keyrail.config.json'), { environment: { KEYRAIL_PORT_OFFSET: variable } })
      expect(read).toThrow(/^KEYRAIL_PORT_OFFSET /)
      const [problem = 'nothing'] = /KEYRAIL_PORT_OFFSET .*/.exec(stderr) ?? []
      expect(read).toThrow(problem)
      expect(exitCode).toBe(2)
    },
  )

  test('only reads listen and tls from the config', async () => {
    const port = await start(createServer(notReady))
    // A running service keeps its old config while the new one has errors.
    expect(await health({ listen: { port }, publicUrl: 5, nodes: 'no' })).toMatchObject({ exitCode: 0 })
  })

  test('has the same defaults as the service', () => {
    const { listen } = parseServiceConfig({
      publicUrl: 'http://127.0.0.1:8080',
      networks: {
        testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9' }] },
        mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:9' }] },
      },
    })
    expect(listenDefaults).toEqual(listen)
  })

  test.each<[string, RequestListener, string]>([
    ['returns an error', (_, response) => void response.writeHead(503).end(), 'returned HTTP 503'],
    ['is another program', (_, response) => void response.writeHead(404).end(), 'returned HTTP 404'],
    ['closes the connection', ({ socket }) => void socket.destroy(), 'did not respond: '],
    ['never responds', () => {}, 'did not respond within 0.1 s'],
  ])('fails if the service %s', async (_, listener, message) => {
    const port = await start(createServer(listener))
    // A response must arrive in time on a busy machine too.
    const timeoutMs = message.includes('within') ? '100' : '60000'
    const run = await health({ listen: { port } }, '--timeout', timeoutMs)
    // Docker only supports 0 and 1.
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain(`http://127.0.0.1:${port} ${message}`)
  })

  test.each<[string, unknown, string]>([
    ['is not JSON', '{', 'is not JSON'],
    ['is not an object', '[]', 'must be a JSON object'],
    ['has an invalid port', { listen: { port: 'x' } }, 'listen.port'],
    ['has an invalid host', { listen: { host: 5, port: 1 } }, 'listen.host'],
    ['uses any free port', { listen: { port: 0 } }, 'is 0, which means any free port'],
  ])('fails if the config %s', async (_, config, message) => {
    const run = await health(config)
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain(message)
  })

  test('fails without a config, and if nothing listens', async () => {
    const missing = await runHere(['health', '--config', join(folder, 'none.json')])
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missing.stderr).toContain('none.json')
    const port = await start(createServer(notReady))
    servers.pop()?.close()
    const run = await health({ listen: { port } })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain('ECONNREFUSED')
  })
})
