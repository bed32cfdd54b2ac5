import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createService, isConfigError, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { readServiceConfig } from '../../src/service/readServiceConfig.ts'
import type { Service } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import type { RawResponse } from '../rawConnection.ts'
import { chainIds } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { startServe, writeConfig } from './serviceProcess.ts'

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-drain-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const createConfig = (port: number, node: Pick<FakeUpstream, 'url'>): ServiceConfigInput => ({
  publicUrl: `http://127.0.0.1:${port}`,
  listen: { port },
  networks: {
    testnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url }] },
    mainnet: { chainId: chainIds.testnet, upstreams: [{ url: node.url }] },
  },
})

/** Starts a service with a drain delay of ten minutes, which the tests skip. */
const start = async (control: 'shared' | 'own') => {
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  const [port, controlPort] = [await getFreePort(), await getFreePort()]
  const sitePort = control === 'own' ? controlPort : port
  const events: string[] = []
  const service: Service = await createService({
    config: parseServiceConfig({
      ...createConfig(port, node),
      drainDelayMs: 600_000,
      ...(control === 'own'
        ? { control: { publicUrl: `http://127.0.0.1:${controlPort}`, listen: { port: controlPort } } }
        : {}),
    }),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(createFolder(), 'keyrail.db') },
    log: ({ event }) => events.push(event),
  })
  onTestFinished(() => service.close({ drainDelayMs: 0, graceMs: 0 }))
  await service.listen()
  return { service, events, port, sitePort, path: '/testnet/kr_none' }
}
const send = async (
  port: number,
  bytes: string | Buffer,
): Promise<[status: number, connection: string | undefined]> => {
  const connection = await openRaw(port)
  connection.send(bytes)
  const { status, headers }: RawResponse = await connection.next()
  return [status, headers['connection']]
}
const get = (port: number, path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

// 15.29
test('keyrail serve accepts requests during the drain delay, and a second signal ends the delay', async () => {
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  const folder = createFolder()
  const port = await getFreePort()
  const file = writeConfig(folder, { ...createConfig(port, node), storage: { file: 'keyrail.db' } })
  const service = await startServe(file, {
    KEYRAIL_SECRET: randomBytes(32).toString('hex'),
    KEYRAIL_DRAIN_DELAY_MS: '600000',
  })
  onTestFinished(async () => {
    await service.stop('SIGKILL')
  })
  const ended = service.stop('SIGTERM')
  const line = await service.logged('the drain delay starts', ({ event }) => event === 'drainDelay')
  expect(line).toMatchObject({ delayMs: 600_000 })
  expect(await send(port, get(port, '/readyz'))).toEqual([503, 'close'])
  expect(await send(port, get(port, '/api/deployment'))).toEqual([200, 'close'])
  service.child.kill('SIGTERM')
  expect(await ended).toMatchObject({ exitCode: 0, stderr: '' })
})

test('Ctrl-C stops keyrail serve without the drain delay', async () => {
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  const file = writeConfig(createFolder(), {
    ...createConfig(await getFreePort(), node),
    drainDelayMs: 600_000,
    storage: { file: 'keyrail.db' },
  })
  const service = await startServe(file, { KEYRAIL_SECRET: randomBytes(32).toString('hex') })
  onTestFinished(async () => {
    await service.stop('SIGKILL')
  })
  expect(await service.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(service.lines().map(({ event }) => event)).not.toContain('drainDelay')
})

describe.each(['shared', 'own'] as const)('a stopping service with the control API on a port that is %s', (control) => {
  test('serves calls, the control API and pages during the drain delay, and closes each connection', async () => {
    const { service, events, port, sitePort, path } = await start(control)
    expect(await send(port, get(port, '/readyz'))).toEqual([200, 'keep-alive'])
    expect(await send(sitePort, get(sitePort, '/api/deployment'))).toEqual([200, 'keep-alive'])
    const idle = await openRaw(sitePort)
    const closed = service.close()

    expect(await send(port, get(port, '/readyz'))).toEqual([503, 'close'])
    expect(await send(port, get(port, '/healthz'))).toEqual([200, 'close'])
    // The service still checks keys.
    expect(await send(port, postBytes(path, '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'))).toEqual([401, 'close'])
    expect(await send(sitePort, get(sitePort, '/api/deployment'))).toEqual([200, 'close'])
    expect(await send(sitePort, get(sitePort, '/'))).toEqual([200, 'close'])
    expect(await send(sitePort, get(sitePort, '/nothing'))).toEqual([404, 'close'])
    idle.send(get(sitePort, '/api/deployment'))
    expect((await idle.next()).headers['connection']).toBe('close')
    expect(events.filter((event) => /drain|closed/.test(event))).toEqual(['drainDelay'])

    expect(service.skipDrainDelay()).toBe(true)
    await closed
    expect(events.filter((event) => /drain|closed/.test(event))).toEqual(['drainDelay', 'draining', 'closed'])
    for (const each of [port, sitePort]) await expect(openRaw(each)).rejects.toThrow('ECONNREFUSED')
    expect(service.skipDrainDelay()).toBe(false)
  })
})

describe('the drain delay of a config file', () => {
  const read = (members: Partial<ServiceConfigInput>, variable?: string) => {
    const file = writeConfig(createFolder(), { ...createConfig(8080, { url: 'http://127.0.0.1:9' }), ...members })
    const environment = variable === undefined ? {} : { KEYRAIL_DRAIN_DELAY_MS: variable }
    return readServiceConfig(file, { environment }).drainDelayMs
  }

  test('is drainDelayMs, else KEYRAIL_DRAIN_DELAY_MS, else long enough for the load balancers of deploy/', () => {
    expect(read({})).toBe(5_000)
    expect(read({}, '')).toBe(5_000)
    expect(read({}, '0')).toBe(0)
    expect(read({}, '7000')).toBe(7_000)
    expect(read({ drainDelayMs: 0 }, '5000')).toBe(0)
    expect(read({ drainDelayMs: 250 }, '5000')).toBe(250)
  })

  test.each(['-1', '5s', '1e3', '600001', 'NaN', ' '])('KEYRAIL_DRAIN_DELAY_MS=%j is a config error', (variable) => {
    let caught: unknown
    try {
      read({}, variable)
    } catch (error) {
      caught = error
    }
    expect(isConfigError(caught) && caught.message).toBe(
      'KEYRAIL_DRAIN_DELAY_MS must be a whole number of milliseconds from 0 to 600000',
    )
  })
})
