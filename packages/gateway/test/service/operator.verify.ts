import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as requestTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { result } from '../fakeUpstream.ts'
import { openRaw } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { startRedis } from '../usage/startRedis.ts'
import { places } from './places.ts'
import { runKeyrail, startServe, writeConfig } from './serviceProcess.ts'
import { nodeSecret, startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { getAppCode } from '../account/appCode.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

// Each test starts several processes from source.
const [sqlite] = places
if (sqlite === undefined) throw new Error('no test environment')

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const start: typeof startTestService = async (...given) => {
  const service = await startTestService(...given)
  toStop.push(service.close)
  return service
}
const createFolder = (): string => {
  const created = mkdtempSync(join(tmpdir(), 'keyrail-operator-'))
  toStop.push(async () => rmSync(created, { recursive: true, force: true }))
  return created
}

const password = randomBytes(12).toString('base64url')
const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const secret = randomBytes(48).toString('base64url')

const signUp = async (url: string, email: string): Promise<Visitor> => {
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email, password } })
  return visitor
}
const createKey = (visitor: Visitor, name = 'one') =>
  visitor.get('POST /api/keys', { body: { name, network: 'testnet' } })
const getReason = async (address: string): Promise<string | undefined> => {
  const { text } = await post(address, read)
  return (JSON.parse(text) as { error?: { data?: { reason?: string } } }).error?.data?.reason
}
/** Runs an operator command with the config and database of a service. */
const operate = async (service: TestService, ...words: string[]) => {
  const run = await runKeyrail([...words, '--config', service.configFile, '--json'], service.place.environment)
  if (run.exitCode !== 0) throw new Error(`${words.join(' ')}: ${run.stderr}`)
  return JSON.parse(run.stdout) as Record<string, unknown>
}

const minimal = (port: number) => ({
  publicUrl: `http://127.0.0.1:${port}`,
  listen: { port },
  storage: { file: 'keyrail.db' },
  networks: {
    testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9/topsecret' }] },
    mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:9/topsecret' }] },
  },
})

describe('keyrail serve', () => {
  test.each<[string, Record<string, string>, Record<string, unknown>, string]>([
    ['a secret', {}, {}, 'KEYRAIL_SECRET is missing'],
    ['a long secret', { KEYRAIL_SECRET: 'topsecret' }, {}, 'at least 32 characters'],
    ['networks', { KEYRAIL_SECRET: secret }, { networks: undefined }, 'networks is missing: it must be an object'],
    ['a path for its database', { KEYRAIL_SECRET: secret }, { storage: undefined }, 'storage.file is missing'],
    [
      'a long operator token',
      { KEYRAIL_SECRET: secret, KEYRAIL_OPERATOR_TOKEN: 'topsecret' },
      {},
      'KEYRAIL_OPERATOR_TOKEN must',
    ],
    ['a valid Redis URL', { KEYRAIL_SECRET: secret, REDIS_URL: 'http://topsecret' }, {}, 'REDIS_URL must be'],
    ['its pages', { KEYRAIL_SECRET: secret }, { dashboard: { folder: 'topsecret' } }, 'has no index.html'],
    [
      'its certificate',
      { KEYRAIL_SECRET: secret },
      { tls: { certFile: 'a', keyFile: 'b' } },
      'tls.certFile names a file that cannot be read (ENOENT)',
    ],
  ])('without %s exits with code 2 and a message with a fix', async (_what, environment, changed, message) => {
    const place = createFolder()
    const file = writeConfig(place, { ...minimal(await getFreePort()), ...changed } as never)
    for (const words of [['serve'], ['serve', '--check']]) {
      const run = await runKeyrail([...words, '--config', file], environment)
      expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining(message)])
      expect(run.stderr + run.stdout).not.toContain('topsecret')
    }
  })

  test('exits with code 1 if the port is in use', async () => {
    const service = await start(sqlite)
    const taken = await runKeyrail(['serve', '--config', service.configFile], service.place.environment)
    expect([taken.exitCode, taken.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot listen on port \d+ of 127.0.0.1: it is in use/),
    ])
  })

  test('creates the folder of its database, readable by its owner only, and logs its URL', async () => {
    const data = join(createFolder(), 'not', 'yet')
    const { process: service, url } = await start(sqlite, { storage: { file: join(data, 'keyrail.db') } })
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(service.lines().find(({ event }) => event === 'listening')).toMatchObject({ url })
  })

  test('--check says how many stored keys the secret decrypts, and with --nodes which node is on another chain', async () => {
    const service = await start(sqlite)
    const { environment, folder } = service.place
    const check = (file: string, secret = environment) =>
      runKeyrail(['serve', '--check', '--nodes', '--config', file], secret)
    const right = await check(service.configFile)
    expect(right).toMatchObject({ exitCode: 0, stderr: '' })
    expect(right.stdout).toMatch(/^The secret decrypts 0 of 0 stored keys$/m)
    expect(right.stdout).toMatch(/^testnet +testnet-1 +http:\/\/127\.0\.0\.1:\d+\/… +right chain$/m)

    const { testnet, mainnet } = service.config.networks
    const wrong = writeConfig(
      folder,
      { ...service.config, networks: { testnet: { ...testnet, chainId: 1 }, mainnet } } as never,
      'wrong.json',
    )
    const run = await check(wrong)
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toMatch(
      /^keyrail: the url of testnet-1 cannot be used for testnet: its chain id is \d+, not 1$/m,
    )
    expect(run.stdout + run.stderr).not.toContain(nodeSecret)
  })

  test('--check validates the config and starts nothing', async () => {
    const place = createFolder()
    const file = writeConfig(place, minimal(1))
    const environment = { KEYRAIL_SECRET: secret }
    expect(await runKeyrail(['serve', '--check', '--config', file], environment)).toMatchObject({ exitCode: 0 })
    expect(existsSync(join(place, 'keyrail.db'))).toBe(false)
    expect(await runKeyrail(['serve', '--check', '--config', file])).toMatchObject({ exitCode: 2 })
  })
})

describe('keyrail serve --check with REDIS_URL', needs('redis-server'), () => {
  test('says whether Redis responds, and why it cannot be used, without its password', async () => {
    const redis = await startRedis()
    toStop.push(redis.stop)
    const file = writeConfig(createFolder(), minimal(1))
    const check = (url: string) =>
      runKeyrail(['serve', '--check', '--config', file], { KEYRAIL_SECRET: secret, REDIS_URL: url })
    const right = await check(redis.url)
    expect(right).toMatchObject({ exitCode: 0, stderr: '' })
    expect(right.stdout).toMatch(/^Redis responds$/m)
    const cannot = 'Redis cannot be used, and the service would start without it'
    const wrong = await check(redis.url.replace(redis.password, 'topsecret'))
    expect(wrong.exitCode).toBe(0)
    expect(wrong.stdout).toContain(`${cannot}: its user or password is wrong (WRONGPASS): correct REDIS_URL\n`)
    expect(wrong.stdout + wrong.stderr).not.toContain('topsecret')
    await redis.stop()
    expect((await check(redis.url)).stdout).toContain(`${cannot}: nothing listens at its host and port (ECONNREFUSED)`)
  })

  test('fails if Redis may delete counters, as the start does', async () => {
    const redis = await startRedis(['maxmemory 100mb', 'maxmemory-policy allkeys-lru'])
    toStop.push(redis.stop)
    const file = writeConfig(createFolder(), minimal(1))
    const run = await runKeyrail(['serve', '--check', '--config', file], {
      KEYRAIL_SECRET: secret,
      REDIS_URL: redis.url,
    })
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('REDIS_URL names a Redis that may delete')])
  })
})

describe('a running service', () => {
  test('rejects sign-ups without an invite, and an invite link works once', async () => {
    const service = await start(sqlite, { signUp: undefined } as never)
    const visitor = createVisitor(service.url)
    const body = { email: 'ann@example.org', password }
    expect((await visitor.request('POST', '/api/account', body)).status).toBe(403)
    service.change({ signUp: 'invite' })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'applied')
    const { url } = await operate(service, 'users', 'invite', 'ann@example.org')
    const [, invite = '', email] = /\/sign-up#(\w+)&email=(.+)$/.exec(String(url)) ?? []
    expect(email).toBe('ann%40example.org')
    expect((await visitor.request('POST', '/api/account', { ...body, email: 'bob@example.org', invite })).status).toBe(
      403,
    )
    expect((await visitor.request('POST', '/api/account', { ...body, invite })).status).toBe(201)
    expect((await visitor.request('POST', '/api/account', { ...body, email: 'c@example.org', invite })).status).toBe(
      403,
    )
  })

  test('lets the command line list, disable, enable and limit accounts, and reset passwords', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { url: address } = await createKey(ann)
    expect((await post(address, read)).status).toBe(200)

    expect(await operate(service, 'users', 'disable', 'ann@example.org')).toMatchObject({ state: 'disabled' })
    await expect.poll(() => getReason(address)).toBe('key_disabled')
    expect((await ann.request('GET', '/api/account')).status).toBe(401)
    await operate(service, 'users', 'enable', 'ann@example.org')
    await expect.poll(() => getReason(address)).toBe(undefined)

    await operate(service, 'users', 'limits', 'ann@example.org', '--per-day', '3')
    await expect.poll(() => getReason(address), { interval: 200 }).toBe('quota_exceeded')
    expect(await operate(service, 'users', 'limits', 'ann@example.org', '--default')).toMatchObject({ limits: null })
    await expect.poll(() => getReason(address)).toBe(undefined)
    const setRate = async (...burst: readonly string[]): Promise<string> => {
      const words = [
        'users',
        'limits',
        'ann@example.org',
        '--per-second',
        '5',
        ...burst,
        '--config',
        service.configFile,
      ]
      return (await runKeyrail(words, service.place.environment)).stdout
    }
    expect(await setRate()).toContain('The burst did not change: set --burst N')
    expect(await setRate('--burst', '10')).not.toContain('The burst did not change')

    const { url } = await operate(service, 'users', 'reset-password', 'ann@example.org')
    const link = String(url).split('#')[1] ?? ''
    const next = randomBytes(12).toString('base64url')
    expect((await ann.request('POST', '/api/account/password/reset', { link, password: next })).status).toBe(200)
    const again = createVisitor(service.url)
    expect((await again.request('POST', '/api/session', { email: 'ann@example.org', password })).status).toBe(401)
    expect((await again.request('POST', '/api/session', { email: 'ann@example.org', password: next })).status).toBe(200)

    const { totp } = await again.get('POST /api/account/factors/options')
    const code = getAppCode(totp.secret, Date.now())
    await again.get('POST /api/account/factors', { body: { label: 'App', totp: { setup: totp.setup, code } } })
    const pending = await again.request('POST', '/api/session', { email: 'ann@example.org', password: next })
    expect(pending.json).toMatchObject({ error: { code: 'second_factor_required' } })
    expect(await operate(service, 'users', 'reset-second-factor', 'ann@example.org')).toMatchObject({
      hasSecondFactor: false,
    })
    expect((await again.request('POST', '/api/session', { email: 'ann@example.org', password: next })).status).toBe(200)

    await operate(service, 'users', 'role', 'ann@example.org', 'operator')
    expect(await operate(service, 'users', 'list', '--search', 'ANN')).toEqual([
      expect.objectContaining({ email: 'ann@example.org', role: 'operator', state: 'active' }),
    ])
    const lookAlike = await runKeyrail(
      ['users', 'role', '\u{ff41}nn@example.org', 'operator', '--config', service.configFile],
      service.place.environment,
    )
    expect([lookAlike.exitCode, lookAlike.stderr]).toEqual([1, expect.stringContaining('account not found')])
    const { exitCode, stderr } = await runKeyrail(
      ['users', 'disable', 'nobody@example.org', '--config', service.configFile],
      service.place.environment,
    )
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('account not found')])
  })

  test('can be backed up while it runs, and restored', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { url: address } = await createKey(ann)
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
    const users = (await operate(service, 'users', 'list')) as unknown as { email: string }[]
    expect(users.map(({ email }) => email)).toEqual(['ann@example.org'])
  })

  test('reloads its secret from the file, and still shows older keys', async () => {
    const place = createFolder()
    const file = join(place, 'secret')
    writeFileSync(file, `${secret}\n`, { mode: 0o600 })
    const unset = { KEYRAIL_SECRET: '', KEYRAIL_SECRET_FILE: file }
    const service = await start(sqlite, {}, unset)
    const ann = await signUp(service.url, 'ann@example.org')
    const { key, apiKey } = await createKey(ann)
    expect(await operate(service, 'secret', 'rotate')).toMatchObject({ version: 2, resealed: 1, unreadable: [] })
    expect(await operate(service, 'secret', 'drop-old')).toMatchObject({ version: 2, dropped: [1] })
    expect(readFileSync(file, 'utf8')).toMatch(/^2:\S{64}\n$/)
    const shown = async () => (await ann.request('POST', `/api/keys/${key.id}/reveal`, {})).json
    await expect.poll(shown).toMatchObject({ apiKey })
  })
})

describe('a config reload', () => {
  test('drops no request; an invalid config is rejected and changes nothing', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { url: address } = await createKey(ann)
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
    const [wrong] = [{ ...networks, testnet: { ...networks['testnet'], chainId: 'one' } }]
    writeConfig(service.place.folder, { ...service.config, networks: wrong } as never)
    const rejected = await service.process.logged(
      'a rejection',
      ({ event, state }) => event === 'config' && state === 'rejected',
    )
    expect(rejected['faults']).toEqual(['networks.testnet.chainId must be a whole number from 1 to 9007199254740991'])
    // Calls of each network must still reach a node of the right chain.
    service.change({
      networks: {
        ...networks,
        testnet: { ...networks['testnet'], upstreams: [{ url: `${service.nodes.testnet.url}/`, name: 'renamed' }] },
      },
      limits: { apiKeys: { perDay: 7 } },
    })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'applied')
    expect(service.process.lines()).toContainEqual(
      expect.objectContaining({ event: 'upstream', upstream: 'renamed', state: 'healthy' }),
    )
    await expect.poll(() => statuses.includes(403)).toBe(true)
    ended = true
    await Promise.all(callers)
    // Only the new quota rejects calls.
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
  })

  test('names a network that was added, and where it is enabled for existing keys', async () => {
    const service = await start(sqlite)
    const { networks } = service.config
    service.change({
      networks: {
        ...networks,
        'our-chain': { ...networks['testnet'], upstreams: [{ url: service.nodes.testnet.url }] },
      },
    } as never)
    const entry = await service.process.logged('the new network', (line) => line['addedNetworks'] !== undefined)
    expect(entry).toMatchObject({ event: 'config', state: 'applied', addedNetworks: ['our-chain'] })
    expect(entry['next']).toContain('enable them in the dashboard, under Networks of each app')
    const { url: address } = await createKey(await signUp(service.url, 'ann@example.org'))
    const rejected = await post(address.replace('/testnet/', '/our-chain/'), read)
    expect(rejected.status).toBe(403)
    expect(JSON.stringify(rejected)).toContain('An API key has one network: create another in the dashboard')
  })

  test('happens on SIGHUP, and reports which members need a restart', async () => {
    const service = await start(sqlite, { logRequests: false })
    service.process.child.kill('SIGHUP')
    await service.process.logged('the same config', ({ event, state }) => event === 'config' && state === 'applied')
    service.change({ listen: { port: 1 } })
    const { needsRestart } = await service.process.logged('another port', (line) => line['needsRestart'] !== undefined)
    expect(needsRestart).toEqual(['listen'])
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })
})

describe('the ports of a service', () => {
  test('the site only responds at the host of publicUrl, and without CORS', async () => {
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
        if (status === 421 && path !== '/') expect(body).toContain(service.url)
      }
    const mine = await fetch(`${service.url}/api/deployment`, { headers: { origin: 'https://evil.example' } })
    expect([mine.status, mine.headers.get('access-control-allow-origin')]).toEqual([200, null])
    const { publicUrl } = (await mine.json()) as { publicUrl: string }
    expect(publicUrl).toBe(service.url)
    // Test keys only work in development.
    for (const testKey of ['kr_test_429', 'kr_test_slow'])
      expect(await getReason(`${service.url}/testnet/v2/${testKey}`)).toBe('key_unknown')
    // The networks respond at any host name.
    expect((await post(`http://localhost:${port}/testnet/none`, read)).headers.get('access-control-allow-origin')).toBe(
      '*',
    )
  })

  test('control.listen moves the site to a separate port', async () => {
    const port = await getFreePort()
    const service = await start(sqlite, { control: { publicUrl: `http://127.0.0.1:${port}`, listen: { port } } })
    expect((await fetch(`${service.url}/api/deployment`)).status).toBe(404)
    expect((await fetch(`${service.url}/`)).status).toBe(404)
    const ann = await signUp(`http://127.0.0.1:${port}`, 'ann@example.org')
    const { url: address } = await createKey(ann)
    expect(address.startsWith(`${service.url}/testnet/`)).toBe(true)
    expect((await post(address, read)).status).toBe(200)
    expect((await post(address.replace(service.url, `http://127.0.0.1:${port}`), read)).status).toBe(404)
    // It has the bounds of the networks, also after a reload.
    service.change({ bounds: { maxConnections: 1 } })
    await service.process.logged('the new config', ({ event, state }) => event === 'config' && state === 'applied')
    const [first, second] = [await openRaw(port), await openRaw(port)]
    second.send(Buffer.from(`GET /api/deployment HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`))
    await expect(second.next()).rejects.toThrow('ended before a response')
    for (const connection of [first, second]) connection.destroy()
  })

  test('serves https with a certificate, and warns if publicUrl is not https', async () => {
    const place = createFolder()
    const { certFile, keyFile, cert } = createCertificate(place, 'localhost', ['localhost', '127.0.0.1'])
    const service = await start(sqlite, { tls: { certFile, keyFile } })
    const response = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = requestTls(`https://127.0.0.1:${service.process.port}/healthz`, { ca: cert }, (message) => {
        let text = ''
        message.on('data', (chunk: Buffer) => (text += chunk.toString()))
        message.on('end', () => resolve({ status: message.statusCode, text }))
      })
      request.on('error', reject).end()
    })
    expect(response).toEqual({ status: 200, text: '{"status":"ok"}' })
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed')
    service.change({ publicUrl: 'http://rpc.example.org' })
    await service.process.logged(
      'a warning',
      ({ event, what }) => event === 'warning' && /not https/.test(String(what)),
    )
  })

  test('SIGTERM completes requests in flight, and exits with code 0', async () => {
    const service = await start(sqlite)
    const ann = await signUp(service.url, 'ann@example.org')
    const { url: address } = await createKey(ann)
    let onCall: (() => void) | undefined
    const isInFlight = new Promise<void>((resolve) => (onCall = resolve))
    service.nodes.testnet.behave = (call, response) => {
      onCall?.()
      setTimeout(() => response.end(result(call, '"0x2"')), 500)
      return undefined
    }
    const response = post(address, read)
    await isInFlight
    const ended = service.process.stop()
    expect((await response).text).toContain('"0x2"')
    expect(await ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(service.process.lines().at(-1)).toMatchObject({ event: 'closed', cutOff: 0 })
  })
})
