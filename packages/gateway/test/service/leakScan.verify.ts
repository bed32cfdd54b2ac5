import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import type { ControlApi, ServiceConfigInput } from '../../src/index.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { openRaw } from '../rawConnection.ts'
import { chainIds } from '../startGateway.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import { freePort } from './freePort.ts'
import { findSecrets, formsOf } from './leakScan.ts'
import type { Place, Secret } from './leakScan.ts'
import { runKeyrail, startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'
import { createVisitor } from './visitor.ts'
import type { Seen, Visitor } from './visitor.ts'

const random = (): string => randomBytes(24).toString('base64url')

describe('the search', () => {
  const secret = { name: 'it', text: `p/${random()}"é` }
  const planted = (text: string): Buffer =>
    Buffer.concat([randomBytes(4_001), Buffer.from(text, 'latin1'), randomBytes(999)])
  const forms = [...formsOf(secret.text)].flatMap(([form, texts]) => texts.map((text) => [form, text] as const))

  test.each(forms)('finds a secret %s', (_, text) => {
    expect(findSecrets([secret], [{ name: 'a file', bytes: planted(text) }])).not.toEqual([])
  })

  test('finds it amid other text in base64, wherever it begins', () => {
    for (const before of ['', 'x', 'xy', 'xyz'])
      for (const encoding of ['base64', 'base64url'] as const)
        expect(
          findSecrets(
            [secret],
            [{ name: 'a log', bytes: Buffer.from(`${before}${secret.text}:after`).toString(encoding) }],
          ),
        ).not.toEqual([])
  })

  test('finds the bytes that it stands for, and half of it', () => {
    const text = random()
    const bytes = planted(Buffer.from(text, 'base64url').toString('latin1'))
    expect(findSecrets([{ name: 'it', text }], [{ name: 'a file', bytes }])).toEqual(['it decoded in a file'])
    expect(findSecrets([{ name: 'it', text }], [{ name: 'a file', bytes: planted(text.slice(8, 22)) }])).toEqual([
      'it as it is in a file',
    ])
  })

  test('finds nothing where there is nothing', () => {
    const places = [{ name: 'a file', bytes: randomBytes(400_000) }]
    expect(findSecrets([secret, { name: 'another', text: 'gone', whole: true }], places.slice(0, 1))).toEqual([])
  })
})

type RouteName = keyof ControlApi
type Given<Name extends RouteName> = {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: ControlApi[Name]['body']
  /** What the answer is asked to show. */
  readonly shows?: (answer: ControlApi[Name]['response']) => readonly string[]
}

describe('keyrail serve, with all that it can do', () => {
  const secrets: Secret[] = []
  const ofNodes = {
    path: random(),
    query: random(),
    user: random(),
    password: random(),
    file: random(),
    env: random(),
  }
  /** What a stranger could try passwords and keys on: only the database may hold these. */
  const hashes: Secret[] = []
  const answers: Place[] = []
  const printed: Place[] = []
  let folder: string
  let vault: string
  let environment: Record<string, string>
  let configFile: string
  let config: ServiceConfigInput
  let nodes: Record<'testnet' | 'mainnet', FakeUpstream>
  let service: ServiceProcess

  const remember = (name: string, text: string): string => {
    secrets.push({ name, text })
    const hash = createHash('sha256').update(text).digest('hex')
    hashes.push({ name: `the hash of ${name}`, text: hash })
    return text
  }
  const keep = (
    name: string,
    { headers, text }: Pick<Seen, 'headers' | 'text'>,
    shown: readonly string[] = [],
  ): void => {
    const all = `${JSON.stringify([...headers])}${text}`
    answers.push({ name: `the answer to ${name}`, bytes: shown.reduce((rest, one) => rest.replaceAll(one, ''), all) })
  }

  /** Asks the control API, and keeps the answer but for what it was asked to show. */
  const ask = async (
    visitor: Visitor,
    name: RouteName | `${string} ${string}`,
    body?: unknown,
    headers = {},
  ): Promise<Seen> => {
    const [method = '', path = ''] = name.split(' ')
    const before = visitor.cookie
    const seen = await visitor.ask(method, path, body, headers)
    const { cookie } = visitor
    if (cookie !== before && cookie !== '') remember('a session', cookie.slice(cookie.indexOf('=') + 1))
    keep(name.replaceAll(/kr\w?_\w+/g, 'KEY'), seen, cookie === '' ? [] : [cookie])
    return seen
  }
  const get = async <Name extends RouteName>(
    visitor: Visitor,
    name: Name,
    { params = {}, body, shows = () => [] }: Given<Name> = {},
  ): Promise<ControlApi[Name]['response']> => {
    const [method = '', pattern = ''] = name.split(' ')
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
    const before = answers.length
    const { status, text, json } = await ask(visitor, `${method} ${path}`, method === 'GET' ? undefined : (body ?? {}))
    if (status >= 300) throw new Error(`${name} was rejected with ${status}: ${text}`)
    const shown = shows(json as never)
    for (const one of shown) if (!secrets.some((secret) => secret.text === one)) remember(`what ${name} shows`, one)
    const [kept] = answers.splice(before, 1)
    if (kept !== undefined)
      answers.push({
        name: kept.name,
        bytes: shown.reduce((rest, one) => rest.replaceAll(one, ''), String(kept.bytes)),
      })
    return json as never
  }

  const call = (method = 'eth_blockNumber', params: unknown = [], id: unknown = 7): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  /** Calls the data plane, and keeps the answer. @returns Its status. */
  const post = async (
    address: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> => {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    keep('a call', { headers: response.headers, text: await response.text() })
    return response.status
  }
  /** Runs a command of the operator. @returns What it printed, as JSON. */
  const operate = async (
    words: readonly string[],
    shows: (json: Record<string, unknown>) => readonly string[] = () => [],
  ) => {
    const { exitCode, stdout, stderr } = await runKeyrail([...words, '--config', configFile, '--json'], environment)
    const json = (exitCode === 0 ? JSON.parse(stdout) : {}) as Record<string, unknown>
    const shown = shows(json)
    for (const one of shown) remember(`what ${words.slice(0, 2).join(' ')} shows`, one)
    const rest = shown.reduce((text, one) => text.replaceAll(one, ''), stdout + stderr)
    printed.push({ name: `the output of ${words.slice(0, 2).join(' ')}`, bytes: rest })
    return { exitCode, json }
  }

  const filesIn = (at: string, name = ''): Place[] =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return filesIn(path, `${name}${entry.name}/`)
      return entry.name.endsWith('.config.json') ? [] : [{ name: `${name}${entry.name}`, bytes: readFileSync(path) }]
    })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-leaks-'))
    // What is meant to hold secrets is not looked at: the config, and the files that it and the environment name.
    vault = mkdtempSync(join(tmpdir(), 'keyrail-vault-'))
    for (const name of ['home', 'tmp', 'data']) mkdirSync(join(folder, name))
    for (const [name, text] of Object.entries(ofNodes)) remember(`the ${name} of an upstream`, text)
    nodes = {
      testnet: await startFakeUpstream(chainIds.testnet, `/v3/${ofNodes.path}?apikey=${ofNodes.query}`),
      mainnet: await startFakeUpstream(chainIds.mainnet),
    }
    for (const node of Object.values(nodes))
      secrets.push({ name: "a node's host", text: new URL(node.url).host, whole: true })
    writeFileSync(join(vault, 'upstream'), `${nodes.mainnet.url}/${ofNodes.file}\n`)
    writeFileSync(
      join(vault, 'secret'),
      `1:${remember('the secret of the service', randomBytes(48).toString('base64'))}\n`,
    )
    const port = await freePort()
    config = {
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      prometheus: { port: 0 },
      storage: { file: 'data/keyrail.db' },
      signUp: 'open',
      chain: { name: 'Testland', symbol: 'TST' },
      networks: {
        testnet: {
          chainId: chainIds.testnet,
          upstreams: [
            { url: nodes.testnet.url.replace('//', `//${ofNodes.user}:${ofNodes.password}@`) },
            { urlEnv: 'SECOND_NODE', name: 'second' },
          ],
        },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ urlFile: join(vault, 'upstream') }] },
      },
      services: { debug: true },
      limits: { apiKeys: { perDay: 400 } },
      bounds: { upstreamTimeoutMs: 1_000, requestTimeoutMs: 1_000, maxResponseBytes: 1_000_000 },
    }
    configFile = writeConfig(folder, config)
    environment = {
      KEYRAIL_SECRET_FILE: join(vault, 'secret'),
      KEYRAIL_OPERATOR_TOKEN: remember("the operator's token", random()),
      // Of another chain: it is told of as one that is never asked.
      SECOND_NODE: `${nodes.mainnet.url}/v3/${ofNodes.env}`,
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
    }
    service = await startServe(configFile, environment)
  })
  afterAll(async () => {
    await service.stop()
    for (const node of Object.values(nodes)) await node.stop()
    for (const one of [folder, vault]) rmSync(one, { recursive: true, force: true })
  })

  test(
    'has nothing that is secret in its logs, metrics, answers, files and commands',
    { timeout: 180_000 },
    async () => {
      const { url } = service
      const ann = createVisitor(url)
      const password = remember('a password', random())
      const next = remember('the next password', random())
      const wrong = remember('a wrong password', random())

      // Accounts.
      await ask(ann, 'POST /api/account', { email: 'ann@example.org', password })
      await ask(createVisitor(url), 'POST /api/account', { email: 'ann@example.org', password: wrong })
      await ask(createVisitor(url), 'POST /api/account', { email: wrong, password: wrong })
      for (const email of ['ann@example.org', 'nobody@example.org', `${wrong}@example.org`, wrong])
        await ask(createVisitor(url), 'POST /api/session', { email, password: wrong })
      await ask(createVisitor(url), 'POST /api/session', `{"email":"ann@example.org","password":"${password}"`)
      // A member that is not known is named to whoever sent it.
      await createVisitor(url).ask('POST', '/api/session', { email: 'ann@example.org', password, [password]: wrong })
      await ask(createVisitor(url), `GET /api/session?password=${password}`)
      await ask(createVisitor(url), `GET /${password}`)
      expect((await ask(ann, 'POST /api/session', { email: 'ann@example.org', password })).status).toBe(200)
      expect((await ask(ann, 'POST /api/account/password', { current: password, next })).status).toBe(200)
      await ask(ann, 'POST /api/account/password', { current: wrong, next: password })
      const gone = createVisitor(url)
      await ask(gone, 'POST /api/account', { email: 'gone@example.org', password })
      const operator = { authorization: `Bearer ${environment['KEYRAIL_OPERATOR_TOKEN']}` }
      const badOperator = { authorization: `Bearer ${remember('a wrong token', random())}` }
      for (const headers of [operator, badOperator])
        for (const path of ['overview', 'users', 'invites', 'audit-log'])
          await ask(gone, `GET /api/admin/${path}`, undefined, headers)

      // Apps and keys.
      const made = await get(ann, 'POST /api/apps', {
        body: { name: 'wallet', useCase: 'Wallet', chain: 'TST', services: ['Node API'] },
        shows: ({ apiKey }) => [apiKey],
      })
      const params = { appId: made.app.id }
      const rotated = await get(ann, 'POST /api/apps/{appId}/key/rotate', {
        params,
        body: { graceDays: 1 },
        shows: ({ apiKey }) => [apiKey],
      })
      const revealed = await get(ann, 'POST /api/apps/{appId}/key/reveal', { params, shows: ({ apiKey }) => [apiKey] })
      expect(revealed.apiKey).toBe(rotated.apiKey)
      const apiKey = await get(ann, 'POST /api/keys', {
        body: { name: 'one', network: 'testnet' },
        shows: (answer) => [answer.apiKey],
      })
      const key = await get(ann, 'POST /api/keys/{keyId}/rotate', {
        params: { keyId: apiKey.key.id },
        body: { graceDays: 1 },
        shows: (answer) => [answer.apiKey],
      })
      const revoked = await get(ann, 'POST /api/keys', {
        body: { name: 'two', network: 'testnet' },
        shows: (answer) => [answer.apiKey],
      })
      await get(ann, 'POST /api/keys/{keyId}/revoke', { params: { keyId: revoked.key.id } })
      await ask(ann, `GET /api/keys/${key.apiKey}`)
      const { token } = await get(ann, 'POST /api/tokens', {
        body: { label: 'ci', scopes: ['read', 'keys:write'], expiresAt: null },
        shows: (answer) => [answer.token],
      })
      const script = createVisitor(url)
      for (const name of ['GET /api/apps', 'POST /api/apps', 'GET /api/keys', 'GET /api/tokens'] as const)
        await ask(script, name, name.startsWith('POST') ? {} : undefined, { authorization: `Bearer ${token}` })
      await ask(script, `GET /api/apps?token=${token}`)

      // Lists and tokens of callers.
      const { privateKey } = generateKeyPairSync('ed25519')
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      remember('a private key', pem.split('\n')[1] ?? '')
      const jwtKeys = `POST /api/apps/${made.app.id}/jwt-keys` as const
      for (const bad of [pem, pem.replaceAll('\n', ''), `${pem}${pem}`, pem.slice(0, 80)])
        expect((await ask(ann, jwtKeys, { pem: bad })).status).toBe(422)
      const signer = createSigner('')
      remember(
        'the key of a signer',
        signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().split('\n')[1] ?? '',
      )
      const { kid } = await get(ann, 'POST /api/apps/{appId}/jwt-keys', { params, body: { pem: signer.pem } })
      const exp = Math.floor(Date.now() / 1_000) + 600
      const tokens = [{ exp }, { exp: 1 }, { exp, methods: ['eth_chainId'] }].map((claims) =>
        signToken({ ...signer, kid }, { ...claims, jti: random() }),
      )
      tokens.push(signToken({ ...createSigner(''), kid }, { exp, jti: random() }))
      for (const jwt of tokens) {
        const [, payload = '', signature = ''] = jwt.split('.')
        remember('the claims of a token', payload)
        remember('the signature of a token', signature)
        await ask(ann, `POST /api/apps/${made.app.id}/jwt-keys/test`, { token: jwt })
      }
      for (const [type, value] of [
        ['origin', 'https://app.example.org'],
        ['ip', '127.0.0.0/8'],
        ['userAgent', 'wallet/'],
      ] as const)
        await get(ann, 'POST /api/apps/{appId}/allow-list', { params, body: { type, value } })

      // Calls, good and bad, with secrets where they do not belong.
      const stranger = remember('a key that nobody has', createApiKey('testnet'))
      const appAddress = rotated.addresses.testnet
      const good = { origin: 'https://app.example.org', 'user-agent': 'wallet/1.0' }
      const { testnet: node } = nodes
      const behaviours: FakeUpstream['behave'][] = [
        (seen) => result(seen, '"0x1"'),
        (seen) => {
          const { url: at } = node
          const basic = Buffer.from(`${ofNodes.user}:${ofNodes.password}`).toString('base64')
          const message = JSON.stringify(`cannot reach ${at} ${encodeURIComponent(at)} ${basic}`)
          return `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${message},"data":${message}}}`
        },
        () => `<html>${node.url}</html>`,
        () => undefined,
      ]
      const addresses = [
        key.address,
        apiKey.address,
        revoked.address,
        `${url}/testnet/${stranger}`,
        `${url}/mainnet/${key.apiKey}`,
        `${url}/testnet/v2/${key.apiKey}`,
        `${url}/testnet/${rotated.apiKey}`,
        `${url}/testnet/v1/${rotated.apiKey}`,
        `${url}/${key.apiKey}`,
        `${url}/api/${key.apiKey}`,
        `${url}/testnet/?key=${key.apiKey}`,
        `${key.address}?token=${token}`,
      ]
      const bodies = [
        call(),
        `[${call()},${call('eth_gasPrice')},{}]`,
        call('eth_nope'),
        '{',
        call('debug_traceCall', [{}]),
      ]
      for (const behave of behaviours) {
        node.behave = behave
        const byToken = [undefined, ...tokens, token, 'x'].flatMap((jwt) =>
          [appAddress, made.addresses.testnet, `${url}/testnet/v2`].map((address) =>
            post(address, call('eth_gasPrice'), {
              ...good,
              ...(jwt === undefined ? {} : { authorization: `Bearer ${jwt}` }),
            }),
          ),
        )
        const byAddress = addresses.flatMap((address) => bodies.map((body) => post(address, body)))
        const statuses = await Promise.all([...byToken, ...byAddress])
        expect(new Set(statuses).size).toBeGreaterThan(4)
      }
      node.behave = (seen) => result(seen, '"0x1"')
      // A method that is none has its name in the answer, where its caller put it.
      await fetch(key.address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: call(key.apiKey),
      })
      await post(key.address, call('eth_call', [{ data: key.apiKey }], stranger).replace(`"${stranger}"`, '1'), {
        referer: key.address,
        'user-agent': token,
        'x-forwarded-for': key.apiKey,
        'x-request-id': key.apiKey,
        cookie: ann.cookie,
        origin: `https://${stranger}.example`,
      })
      await post(key.address, `${call()}${' '.repeat(3_000_000)}`)
      for (const path of [
        new URL(key.address).pathname,
        `/${key.apiKey}`,
        `/sign-up?invite=${token}`,
        `/testnet/${stranger}`,
      ]) {
        const response = await fetch(`${url}${path}`)
        keep('a page', { headers: response.headers, text: await response.text() })
      }
      for (const text of [
        `POST ${new URL(key.address).pathname} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
        `POST ${new URL(key.address).pathname} NONSENSE\r\n\r\n`,
        `POST /testnet/${key.apiKey} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{`,
        `CONNECT ${key.apiKey}:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET http://${token}@host/${key.apiKey} HTTP/1.1\r\nHost: ${key.apiKey}\r\n\r\n`,
      ]) {
        const connection = await openRaw(service.port)
        connection.send(text)
        keep('broken HTTP', { headers: new Headers(), text: JSON.stringify(await connection.next()) })
        connection.destroy()
      }

      // The operator.
      const users = await operate(['users', 'list'])
      expect(users.exitCode).toBe(0)
      const invited = await operate(['users', 'invite', 'bob@example.org'], ({ url: link }) => [
        String(link).split(/[#&]/)[1] ?? '',
      ])
      const unused = await operate(['users', 'invite'], ({ url: link }) => [String(link).split('#')[1] ?? ''])
      expect(unused.exitCode).toBe(0)
      const bob = createVisitor(url)
      const invite = String(invited.json['url']).split(/[#&]/)[1] ?? ''
      await ask(bob, 'POST /api/account', { email: 'bob@example.org', password, invite })
      await ask(bob, 'POST /api/account', { email: 'bob2@example.org', password, invite })
      const reset = await operate(['users', 'reset-password', 'bob@example.org'], ({ url: link }) => [
        String(link).split('#')[1] ?? '',
      ])
      const link = String(reset.json['url']).split('#')[1] ?? ''
      for (let turn = 0; turn < 2; turn += 1)
        await ask(bob, 'POST /api/account/password/reset', { link, password: next })
      await operate(['users', 'reset-password', `${next}@example.org`])
      await operate(['users', 'limits', 'bob@example.org', '--per-day', '10'])
      await operate(['users', 'disable', 'bob@example.org'])
      await operate(['backup', join(folder, 'data', 'copy.db')])
      expect((await operate(['secret', 'rotate'])).exitCode).toBe(0)
      for (const text of readFileSync(join(vault, 'secret'), 'utf8').split(/\s+/))
        remember('the next secret of the service', text.replace(/^\d+:/, ''))
      await expect
        .poll(() =>
          get(ann, 'POST /api/keys/{keyId}/reveal', {
            params: { keyId: apiKey.key.id },
            shows: (shown) => [shown.apiKey],
          }),
        )
        .toMatchObject({ apiKey: key.apiKey })

      // Configs that cannot be used, and one that can.
      const reloaded = async (state: string): Promise<void> => {
        const before = service.lines().filter(({ event }) => event === 'config').length
        writeFileSync(configFile, state)
        await expect
          .poll(() => service.lines().filter(({ event }) => event === 'config').length)
          .toBeGreaterThan(before)
      }
      const spare = remember('an upstream that is rejected', random())
      await reloaded(`{"networks":{"testnet":{"upstreams":[{"url":"http://127.0.0.1:9/${spare}",}]}}}`)
      await reloaded(
        JSON.stringify({
          ...config,
          networks: { testnet: { chainId: spare, upstreams: [{ url: `ftp://${spare}` }] } },
        }),
      )
      await reloaded(JSON.stringify({ ...config, [spare]: 1, publicUrl: `http://${spare}@x` }))
      await reloaded(JSON.stringify({ ...config, limits: { apiKeys: { perDay: 300 } } }))

      // What is shown to its owner, and to whoever may look.
      for (const path of [
        'account',
        'session',
        'apps',
        'keys',
        'tokens',
        'usage',
        'audit-log',
        'metrics?range=hour',
        'metrics.csv?range=hour',
        'deployment',
        'openapi.json',
        `apps/${made.app.id}`,
        `apps/${made.app.id}/allow-list`,
        `apps/${made.app.id}/jwt-keys`,
        `apps/${made.app.id}/usage`,
        `apps/${made.app.id}/metrics?range=hour`,
        `keys/${apiKey.key.id}`,
      ])
        expect([path, (await ask(ann, `GET /api/${path}`)).status]).toEqual([path, 200])
      for (const path of ['overview', 'users', 'invites', 'audit-log'])
        expect((await ask(createVisitor(url), `GET /api/admin/${path}`, undefined, operator)).status).toBe(200)
      await ask(gone, 'POST /api/account/delete', { password: wrong })
      expect((await ask(gone, 'POST /api/account/delete', { password })).status).toBe(204)
      const planted = random()
      await get(ann, 'POST /api/apps', {
        body: { name: 'planted', description: planted, useCase: 'Other', chain: 'TST', services: ['Node API'] },
        shows: (answer) => [answer.apiKey],
      })
      for (const path of ['healthz', 'readyz']) await ask(ann, `GET /${path}`)
      expect((await ask(ann, 'DELETE /api/session', {})).status).toBe(204)

      const { port } = await service.logged('prometheus', ({ event }) => event === 'prometheusListening')
      const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
      const running = filesIn(folder)
      const { stdout, stderr, exitCode } = await service.stop()
      const stopped = filesIn(folder)
      const told: Place[] = [
        { name: 'the log', bytes: stdout },
        { name: 'the errors', bytes: stderr },
        { name: 'the metrics', bytes: metrics },
        ...printed,
        ...answers,
      ]
      const files = [
        ...running.map(({ name, bytes }) => ({ name: `${name} while it runs`, bytes })),
        ...stopped.map(({ name, bytes }) => ({ name: `${name} after it has ended`, bytes })),
      ]

      expect(findSecrets(secrets, [...told, ...files])).toEqual([])
      expect(findSecrets(hashes, told)).toEqual([])
      expect([exitCode, stderr]).toEqual([0, ''])
      // Whatever is hidden only where it is written was on its way out.
      expect(stdout.split('\n').filter((line) => line.includes('[secret]'))).toEqual([])

      // It was not for want of trying.
      const happened = new Set(service.lines().map(({ event, reason }) => reason ?? event))
      for (const one of ['upstream_bad', 'upstream_timeout', 'bad_http', 'jwt_invalid', 'page', 'control', 'config'])
        expect(happened).toContain(one)
      // The search looks where it says: what was planted is found there, and what is known to be there.
      expect(secrets.length).toBeGreaterThan(40)
      expect(running.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['data/copy.db', 'data/keyrail.db', 'data/keyrail.db-shm', 'data/keyrail.db-wal']),
      )
      const inFiles = findSecrets([{ name: 'it', text: planted }], files)
      expect(inFiles).toEqual(
        expect.arrayContaining([
          'it as it is in data/keyrail.db-wal while it runs',
          'it as it is in data/keyrail.db after it has ended',
        ]),
      )
      const requestId = service.lines().findLast(({ event }) => event === 'request')?.['requestId']
      const known: Secret[] = [
        { name: 'a request', text: String(requestId), whole: true },
        { name: 'a metric', text: 'keyrail_items_total', whole: true },
      ]
      expect(findSecrets(known, told)).toEqual(
        expect.arrayContaining(['a request as it is in the log', 'a metric as it is in the metrics']),
      )
      expect(
        findSecrets(
          [{ name: 'a key', text: key.apiKey }],
          [{ name: 'the log', bytes: stdout.replace('"request"', `"${encodeURIComponent(key.address)}"`) }],
        ),
      ).toEqual(['a key as it is in the log'])
    },
  )
})
