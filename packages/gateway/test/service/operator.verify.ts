import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as requestTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { result } from '../fakeUpstream.ts'
import { openRaw } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { freePort } from './freePort.ts'
import { places } from './places.ts'
import { runKeyrail, startServe, writeConfig } from './serviceProcess.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

// Processes are started from source, several to a test.
const [sqlite] = places
if (sqlite === undefined) throw new Error('there is no place')

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const start: typeof startTestService = async (...given) => {
  const service = await startTestService(...given)
  toStop.push(service.close)
  return service
}
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'keyrail-operator-'))
  toStop.push(async () => rmSync(made, { recursive: true, force: true }))
  return made
}

const password = randomBytes(12).toString('base64url')
const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const secret = randomBytes(48).toString('base64url')

const signUp = async (url: string, email: string): Promise<Visitor> => {
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email, password } })
  return visitor
}
const makeKey = (visitor: Visitor, name = 'one') =>
  visitor.get('POST /api/keys', { body: { name, network: 'testnet' } })
const reasonOf = async (address: string): Promise<string | undefined> => {
  const { text } = await post(address, read)
  return (JSON.parse(text) as { error?: { data?: { reason?: string } } }).error?.data?.reason
}
/** Runs a command of the operator on a service's own config and database. */
const operate = async (service: TestService, ...words: string[]) => {
  const run = await runKeyrail([...words, '--config', service.configFile, '--json'], service.place.environment)
  if (run.exitCode !== 0) throw new Error(`${words.join(' ')}: ${run.stderr}`)
  return JSON.parse(run.stdout) as Record<string, unknown>
}

describe('keyrail serve does not start', () => {
  const least = (port: number) => ({
    publicUrl: `http://127.0.0.1:${port}`,
    listen: { port },
    storage: { file: 'keyrail.db' },
    chain: { name: 'Testland', symbol: 'TST' },
    networks: {
      testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9/topsecret' }] },
      mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:9/topsecret' }] },
    },
  })

  test.each<[string, Record<string, string>, Record<string, unknown>, string]>([
    ['a secret', {}, {}, 'KEYRAIL_SECRET is missing'],
    ['a long secret', { KEYRAIL_SECRET: 'topsecret' }, {}, 'at least 32 characters'],
    ['networks', { KEYRAIL_SECRET: secret }, { networks: undefined }, 'networks must be an object'],
    ['a place for its data', { KEYRAIL_SECRET: secret }, { storage: undefined }, 'storage.file is missing'],
    [
      'an operator token of some length',
      { KEYRAIL_SECRET: secret, KEYRAIL_OPERATOR_TOKEN: 'topsecret' },
      {},
      'KEYRAIL_OPERATOR_TOKEN must',
    ],
    ['a Redis that can be one', { KEYRAIL_SECRET: secret, REDIS_URL: 'http://topsecret' }, {}, 'REDIS_URL must be'],
    ['its pages', { KEYRAIL_SECRET: secret }, { dashboard: { folder: 'topsecret' } }, 'holds no index.html'],
    [
      'its certificate',
      { KEYRAIL_SECRET: secret },
      { tls: { certFile: 'a', keyFile: 'b' } },
      'tls.certFile names a file that cannot be read: ENOENT',
    ],
  ])('without %s: exit code 2, and a line that says what to do', async (_what, environment, changed, said) => {
    const place = folder()
    const file = writeConfig(place, { ...least(await freePort()), ...changed } as never)
    for (const words of [['serve'], ['serve', '--check']]) {
      const run = await runKeyrail([...words, '--config', file], environment)
      expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining(said)])
      expect(run.stderr + run.stdout).not.toContain('topsecret')
    }
  })

  test('on a port that is in use: exit code 1', async () => {
    const service = await start(sqlite)
    const taken = await runKeyrail(['serve', '--config', service.configFile], service.place.environment)
    expect([taken.exitCode, taken.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot listen on port \d+ of 127.0.0.1: it is in use/),
    ])
  })

  test('makes the folder of its database, for its owner alone, and says where it is reached', async () => {
    const data = join(folder(), 'not', 'yet')
    const { process: service, url } = await start(sqlite, { storage: { file: join(data, 'keyrail.db') } })
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(service.lines().find(({ event }) => event === 'listening')).toMatchObject({ url })
  })

  test('--check says whether it would, and starts nothing', async () => {
    const place = folder()
    const file = writeConfig(place, least(1))
    const environment = { KEYRAIL_SECRET: secret }
    expect(await runKeyrail(['serve', '--check', '--config', file], environment)).toMatchObject({ exitCode: 0 })
    expect(existsSync(join(place, 'keyrail.db'))).toBe(false)
    expect(await runKeyrail(['serve', '--check', '--config', file])).toMatchObject({ exitCode: 2 })
  })
})

describe('a service that runs', () => {
  test('is closed to sign-up until the operator invites somebody; a link works once', async () => {
    const service = await start(sqlite, { signUp: undefined } as never)
    const stranger = createVisitor(service.url)
    const body = { email: 'ann@example.org', password }
    expect((await stranger.ask('POST', '/api/account', body)).status).toBe(403)
    service.change({ signUp: 'invite' })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'taken')
    const { url } = await operate(service, 'users', 'invite', 'ann@example.org')
    const [, invite = '', email] = /\/sign-up#(\w+)&email=(.+)$/.exec(String(url)) ?? []
    expect(email).toBe('ann%40example.org')
    expect((await stranger.ask('POST', '/api/account', { ...body, email: 'bob@example.org', invite })).status).toBe(403)
    expect((await stranger.ask('POST', '/api/account', { ...body, invite })).status).toBe(201)
    expect((await stranger.ask('POST', '/api/account', { ...body, email: 'c@example.org', invite })).status).toBe(403)
  })

  test('has its accounts listed, disabled, enabled, limited and given a new password by the command line', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { address } = await makeKey(ann)
    expect((await post(address, read)).status).toBe(200)

    expect(await operate(service, 'users', 'disable', 'ann@example.org')).toMatchObject({ state: 'disabled' })
    await expect.poll(() => reasonOf(address)).toBe('key_disabled')
    expect((await ann.ask('GET', '/api/account')).status).toBe(401)
    await operate(service, 'users', 'enable', 'ann@example.org')
    await expect.poll(() => reasonOf(address)).toBe(undefined)

    await operate(service, 'users', 'limits', 'ann@example.org', '--per-day', '3')
    await expect.poll(() => reasonOf(address), { interval: 200 }).toBe('quota_exceeded')
    expect(await operate(service, 'users', 'limits', 'ann@example.org', '--default')).toMatchObject({ limits: null })
    await expect.poll(() => reasonOf(address)).toBe(undefined)

    const { url } = await operate(service, 'users', 'reset-password', 'ann@example.org')
    const link = String(url).split('#')[1] ?? ''
    const next = randomBytes(12).toString('base64url')
    expect((await ann.ask('POST', '/api/account/password/reset', { link, password: next })).status).toBe(200)
    const again = createVisitor(service.url)
    expect((await again.ask('POST', '/api/session', { email: 'ann@example.org', password })).status).toBe(401)
    expect((await again.ask('POST', '/api/session', { email: 'ann@example.org', password: next })).status).toBe(200)

    await operate(service, 'users', 'role', 'ann@example.org', 'operator')
    expect(await operate(service, 'users', 'list', '--search', 'ANN')).toEqual([
      expect.objectContaining({ email: 'ann@example.org', role: 'operator', state: 'active' }),
    ])
    const { exitCode, stderr } = await runKeyrail(
      ['users', 'disable', 'nobody@example.org', '--config', service.configFile],
      service.place.environment,
    )
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('account not found')])
  })

  test('is backed up while it runs, and brought back', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { address } = await makeKey(ann)
    const copy = join(service.place.folder, 'copy.db')
    await operate(service, 'backup', copy)
    await signUp(service.url, 'bob@example.org')
    const early = await runKeyrail(['restore', copy, '--config', service.configFile], service.place.environment)
    expect([early.exitCode, early.stderr]).toEqual([2, expect.stringContaining('is in use: stop the service first')])
    await service.process.stop()
    await operate(service, 'restore', copy)
    const again = await startServe(service.configFile, service.place.environment)
    toStop.push(() => again.stop())
    expect((await post(address, read)).status).toBe(200)
    const mails = (await operate(service, 'users', 'list')) as unknown as { email: string }[]
    expect(mails.map(({ email }) => email)).toEqual(['ann@example.org'])
  })

  test('takes a new secret from its file, and shows keys from before it', async () => {
    const place = folder()
    const file = join(place, 'secret')
    writeFileSync(file, `${secret}\n`, { mode: 0o600 })
    const unset = { KEYRAIL_SECRET: '', KEYRAIL_SECRET_FILE: file }
    const service = await start(sqlite, {}, unset)
    const ann = await signUp(service.url, 'ann@example.org')
    const { key, apiKey } = await makeKey(ann)
    expect(await operate(service, 'secret', 'rotate')).toMatchObject({ version: 2, resealed: 1, unreadable: [] })
    expect(await operate(service, 'secret', 'drop-old')).toMatchObject({ version: 2, dropped: [1] })
    expect(readFileSync(file, 'utf8')).toMatch(/^2:\S{64}\n$/)
    const shown = async () => (await ann.ask('POST', `/api/keys/${key.id}/reveal`, {})).json
    await expect.poll(shown).toMatchObject({ apiKey })
  })
})

describe('its config', () => {
  test('is taken while it serves, without a dropped request; a wrong one is rejected and the old one stays', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { address } = await makeKey(ann)
    for (const node of Object.values(service.nodes))
      node.behave = (call, response) => {
        setTimeout(() => response.end(result(call, '"0x1"')), 20)
        return undefined
      }
    const statuses: number[] = []
    let ended = false
    const callers = Array.from({ length: 4 }, async () => {
      while (!ended) statuses.push((await post(address, read)).status)
    })
    const { networks } = service.config
    const [wrong] = [{ ...networks, testnet: { ...networks.testnet, chainId: 'one' } }]
    writeConfig(service.place.folder, { ...service.config, networks: wrong } as never)
    const rejected = await service.process.logged(
      'a rejection',
      ({ event, state }) => event === 'config' && state === 'rejected',
    )
    expect(rejected['faults']).toEqual(['networks.testnet.chainId must be a whole number from 1 to 9007199254740991'])
    // The two nodes change places: each network's calls must go on to one of the right chain.
    service.change({
      networks: {
        ...networks,
        testnet: { ...networks.testnet, upstreams: [{ url: `${service.nodes.testnet.url}/`, name: 'renamed' }] },
      },
      limits: { apiKeys: { perDay: 7 } },
    })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'taken')
    expect(service.process.lines()).toContainEqual(
      expect.objectContaining({ event: 'upstream', upstream: 'renamed', state: 'healthy' }),
    )
    await expect.poll(() => statuses.includes(403)).toBe(true)
    ended = true
    await Promise.all(callers)
    // The new quota rejects; nothing else went wrong on the way.
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
  })

  test('is read again on SIGHUP, and says what needs a restart', async () => {
    const service = await start(sqlite, { logRequests: false })
    service.process.child.kill('SIGHUP')
    await service.process.logged('the same config', ({ event, state }) => event === 'config' && state === 'taken')
    service.change({ listen: { port: 1 } })
    const { needsRestart } = await service.process.logged('another port', (line) => line['needsRestart'] !== undefined)
    expect(needsRestart).toEqual(['listen'])
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })
})

describe('its edges', () => {
  test('the site answers to the host of publicUrl alone, and without CORS', async () => {
    const service = await start(sqlite)
    const { port } = service.process
    for (const path of ['/', '/api/deployment'])
      for (const [host, expected] of [
        ['evil.example', 421],
        [`evil.example:${port}`, 421],
        ['127.0.0.1:1', 421],
        [`127.0.0.1:${port}\r\nHost: evil.example`, 400],
      ] as const) {
        const connection = await openRaw(port)
        connection.send(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
        const { status, body } = await connection.next()
        expect([path, host, status]).toEqual([path, host, expected])
        expect(body).not.toContain('evil')
        if (status === 421 && path !== '/') expect(body).toContain(`${service.url} alone, which is its publicUrl`)
      }
    const mine = await fetch(`${service.url}/api/deployment`, { headers: { origin: 'https://evil.example' } })
    expect([mine.status, mine.headers.get('access-control-allow-origin')]).toEqual([200, null])
    const { publicUrl } = (await mine.json()) as { publicUrl: string }
    expect(publicUrl).toBe(service.url)
    // What rehearses failures in development is a key like any other here.
    for (const testKey of ['kr_test_429', 'kr_test_slow'])
      expect(await reasonOf(`${service.url}/testnet/v2/${testKey}`)).toBe('key_unknown')
    // The networks answer at any name.
    expect((await post(`http://localhost:${port}/testnet/none`, read)).headers.get('access-control-allow-origin')).toBe(
      '*',
    )
  })

  test('control.listen moves the site to a port of its own', async () => {
    const port = await freePort()
    const service = await start(sqlite, { control: { publicUrl: `http://127.0.0.1:${port}`, listen: { port } } })
    expect((await fetch(`${service.url}/api/deployment`)).status).toBe(404)
    expect((await fetch(`${service.url}/`)).status).toBe(404)
    const ann = await signUp(`http://127.0.0.1:${port}`, 'ann@example.org')
    const { address } = await makeKey(ann)
    expect(address.startsWith(`${service.url}/testnet/`)).toBe(true)
    expect((await post(address, read)).status).toBe(200)
    expect((await post(address.replace(service.url, `http://127.0.0.1:${port}`), read)).status).toBe(404)
    // It keeps to the networks' bounds, also to new ones.
    service.change({ bounds: { maxConnections: 1 } })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'taken')
    const [first, second] = [await openRaw(port), await openRaw(port)]
    second.send(Buffer.from(`GET /api/deployment HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`))
    await expect(second.next()).rejects.toThrow('ended before an answer')
    for (const connection of [first, second]) connection.destroy()
  })

  test('speaks https with a certificate, and says so where publicUrl is not', async () => {
    const place = folder()
    const [certFile, keyFile] = [join(place, 'cert.pem'), join(place, 'key.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        ...subject,
        '-keyout',
        keyFile,
        '-out',
        certFile,
      ],
      { stdio: 'ignore' },
    )
    const service = await start(sqlite, { tls: { certFile, keyFile } })
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = requestTls(
        `https://127.0.0.1:${service.process.port}/healthz`,
        { ca: readFileSync(certFile) },
        (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('end', () => resolve({ status: response.statusCode, text }))
        },
      )
      request.on('error', reject).end()
    })
    expect(answer).toEqual({ status: 200, text: '{"status":"ok"}' })
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed')
    service.change({ publicUrl: 'http://rpc.example.org' })
    await service.process.logged(
      'a warning',
      ({ event, what }) => event === 'warning' && /not https/.test(String(what)),
    )
  })

  test('SIGTERM lets what is in flight be answered, and ends in order', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { address } = await makeKey(ann)
    let asked: (() => void) | undefined
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    service.nodes.testnet.behave = (call, response) => {
      asked?.()
      setTimeout(() => response.end(result(call, '"0x2"')), 500)
      return undefined
    }
    const answer = post(address, read)
    await isAsked
    const ended = service.process.stop()
    expect((await answer).text).toContain('"0x2"')
    expect(await ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(service.process.lines().at(-1)).toMatchObject({ event: 'closed', cutOff: 0 })
  })
})
