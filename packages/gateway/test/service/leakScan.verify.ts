import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import type { ControlApi } from '../../src/index.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { openRaw } from '../rawConnection.ts'
import { chainIds } from '../startGateway.ts'
import { startScriptedNode } from '../subscription/scriptedNode.ts'
import type { ScriptedNode } from '../subscription/scriptedNode.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import { getFreePort } from '../getFreePort.ts'
import { findSecrets, getEncodings } from './leakScan.ts'
import type { ScanTarget, Secret } from './leakScan.ts'
import { onlyBlock, openSubscriptions, rejectWithSecret, sendNodeSecrets, sendSecrets } from './leakSockets.ts'
import { runKeyrail, startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'
import { createVisitor } from './visitor.ts'
import type { Seen, Visitor } from './visitor.ts'

const random = (): string => randomBytes(24).toString('base64url')

describe('findSecrets', () => {
  const secret = { name: 'it', text: `p/${random()}"é` }
  const embed = (text: string): Buffer =>
    Buffer.concat([randomBytes(4_001), Buffer.from(text, 'latin1'), randomBytes(999)])
  const encodings = [...getEncodings(secret.text)].flatMap(([encoding, texts]) =>
    texts.map((text) => [encoding, text] as const),
  )

  test.each(encodings)('finds a secret %s', (_, text) => {
    expect(findSecrets([secret], [{ name: 'a file', bytes: embed(text) }])).not.toEqual([])
  })

  test('finds a secret within other base64 text, at any offset', () => {
    for (const before of ['', 'x', 'xy', 'xyz'])
      for (const encoding of ['base64', 'base64url'] as const)
        expect(
          findSecrets(
            [secret],
            [{ name: 'a log', bytes: Buffer.from(`${before}${secret.text}:after`).toString(encoding) }],
          ),
        ).not.toEqual([])
  })

  test('finds decoded bytes, and half of a secret', () => {
    const text = random()
    const bytes = embed(Buffer.from(text, 'base64url').toString('latin1'))
    expect(findSecrets([{ name: 'it', text }], [{ name: 'a file', bytes }])).toEqual(['it decoded in a file'])
    expect(findSecrets([{ name: 'it', text }], [{ name: 'a file', bytes: embed(text.slice(8, 22)) }])).toEqual([
      'it as plain text in a file',
    ])
  })

  test('finds nothing in random bytes', () => {
    const places = [{ name: 'a file', bytes: randomBytes(400_000) }]
    expect(findSecrets([secret, { name: 'another', text: 'other', whole: true }], places.slice(0, 1))).toEqual([])
  })
})

type RouteName = keyof ControlApi
type Given<Name extends RouteName> = {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: ControlApi[Name]['body']
  /** Secrets that the response must contain. */
  readonly shows?: (response: ControlApi[Name]['response']) => readonly string[]
}

describe('keyrail serve with all features', () => {
  const secrets: Secret[] = []
  const nodeSecrets = {
    path: random(),
    query: random(),
    user: random(),
    password: random(),
    file: random(),
    env: random(),
    webSocket: random(),
  }
  /** Hashes of the secrets, for offline guessing. Only the database may contain them. */
  const hashes: Secret[] = []
  const responses: ScanTarget[] = []
  const printed: ScanTarget[] = []
  let folder: string
  let vault: string
  let environment: Record<string, string>
  let configFile: string
  let config: ServiceConfigInput
  let nodes: Record<'testnet' | 'mainnet', FakeUpstream>
  /** The WebSocket of the node of testnet. */
  let socketNode: ScriptedNode
  let service: ServiceProcess

  const remember = (name: string, text: string): string => {
    secrets.push({ name, text })
    const hash = createHash('sha256').update(text).digest('hex')
    hashes.push({ name: `the hash of ${name}`, text: hash })
    return text
  }
  const record = (
    name: string,
    { headers, text }: Pick<Seen, 'headers' | 'text'>,
    shown: readonly string[] = [],
  ): void => {
    const all = `${JSON.stringify([...headers])}${text}`
    responses.push({
      name: `the response to ${name}`,
      bytes: shown.reduce((rest, one) => rest.replaceAll(one, ''), all),
    })
  }

  /** Calls the control API, and records the response without its session cookie. */
  const send = async (
    visitor: Visitor,
    name: RouteName | `${string} ${string}`,
    body?: unknown,
    headers = {},
  ): Promise<Seen> => {
    const [method = '', path = ''] = name.split(' ')
    const before = visitor.cookie
    const seen = await visitor.request(method, path, body, headers)
    const { cookie } = visitor
    if (cookie !== before && cookie !== '') remember('a session', cookie.slice(cookie.indexOf('=') + 1))
    record(name.replaceAll(/kr\w?_\w+/g, 'KEY'), seen, cookie === '' ? [] : [cookie])
    return seen
  }
  const get = async <Name extends RouteName>(
    visitor: Visitor,
    name: Name,
    { params = {}, body, shows = () => [] }: Given<Name> = {},
  ): Promise<ControlApi[Name]['response']> => {
    const [method = '', pattern = ''] = name.split(' ')
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
    const before = responses.length
    const { status, text, json } = await send(visitor, `${method} ${path}`, method === 'GET' ? undefined : (body ?? {}))
    if (status >= 300) throw new Error(`${name} was rejected with ${status}: ${text}`)
    const shown = shows(json as never)
    for (const one of shown) if (!secrets.some((secret) => secret.text === one)) remember(`what ${name} shows`, one)
    const [recorded] = responses.splice(before, 1)
    if (recorded !== undefined)
      responses.push({
        name: recorded.name,
        bytes: shown.reduce((rest, one) => rest.replaceAll(one, ''), String(recorded.bytes)),
      })
    return json as never
  }

  const call = (method = 'eth_blockNumber', params: unknown = [], id: unknown = 7): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  /** Calls a network, and records the response. @returns Its status. */
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
    record('a call', { headers: response.headers, text: await response.text() })
    return response.status
  }
  /** Runs an operator command. @returns Its JSON output. */
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

  const filesIn = (at: string, name = ''): ScanTarget[] =>
    readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return filesIn(path, `${name}${entry.name}/`)
      return entry.name.endsWith('.config.json') ? [] : [{ name: `${name}${entry.name}`, bytes: readFileSync(path) }]
    })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-leaks-'))
    // The config and the files that it and the environment name contain secrets, so they are not searched.
    vault = mkdtempSync(join(tmpdir(), 'keyrail-vault-'))
    for (const name of ['home', 'tmp', 'data']) mkdirSync(join(folder, name))
    for (const [name, text] of Object.entries(nodeSecrets)) remember(`the ${name} of an upstream`, text)
    nodes = {
      testnet: await startFakeUpstream(chainIds.testnet, `/v3/${nodeSecrets.path}?apikey=${nodeSecrets.query}`),
      mainnet: await startFakeUpstream(chainIds.mainnet),
    }
    socketNode = await startScriptedNode()
    for (const node of [...Object.values(nodes), socketNode])
      secrets.push({ name: "a node's host", text: new URL(node.url).host, whole: true })
    writeFileSync(join(vault, 'upstream'), `${nodes.mainnet.url}/${nodeSecrets.file}\n`)
    writeFileSync(
      join(vault, 'secret'),
      `1:${remember('the secret of the service', randomBytes(48).toString('base64'))}\n`,
    )
    const port = await getFreePort()
    config = {
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      prometheus: { port: 0 },
      storage: { file: 'data/keyrail.db' },
      signUp: 'open',
      networks: {
        testnet: {
          chain: 'testland',
          chainId: chainIds.testnet,
          upstreams: [
            {
              url: nodes.testnet.url.replace('//', `//${nodeSecrets.user}:${nodeSecrets.password}@`),
              wsUrl: `${socketNode.wsUrl}/ws/${nodeSecrets.webSocket}`,
            },
            { urlEnv: 'SECOND_NODE', name: 'second' },
          ],
        },
        mainnet: { chain: 'testland', chainId: chainIds.mainnet, upstreams: [{ urlFile: join(vault, 'upstream') }] },
      },
      services: { debug: true },
      limits: { apiKeys: { perDay: 400 } },
      bounds: { upstreamTimeoutMs: 5_000, requestTimeoutMs: 5_000, maxResponseBytes: 1_000_000 },
    }
    configFile = writeConfig(folder, config)
    environment = {
      KEYRAIL_SECRET_FILE: join(vault, 'secret'),
      KEYRAIL_OPERATOR_TOKEN: remember("the operator's token", random()),
      // A node of another chain: it is logged and never used.
      SECOND_NODE: `${nodes.mainnet.url}/v3/${nodeSecrets.env}`,
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
    }
    service = await startServe(configFile, environment)
  })
  afterAll(async () => {
    await service.stop()
    for (const node of [...Object.values(nodes), socketNode]) await node.stop()
    for (const one of [folder, vault]) rmSync(one, { recursive: true, force: true })
  })

  test('has no secret in its logs, metrics, responses, files and command output', { timeout: 180_000 }, async () => {
    const { url } = service
    const ann = createVisitor(url)
    const password = remember('a password', random())
    const next = remember('the next password', random())
    const wrong = remember('a wrong password', random())

    // Accounts.
    await send(ann, 'POST /api/account', { email: 'ann@example.org', password })
    await send(createVisitor(url), 'POST /api/account', { email: 'ann@example.org', password: wrong })
    await send(createVisitor(url), 'POST /api/account', { email: wrong, password: wrong })
    for (const email of ['ann@example.org', 'nobody@example.org', `${wrong}@example.org`, wrong])
      await send(createVisitor(url), 'POST /api/session', { email, password: wrong })
    await send(createVisitor(url), 'POST /api/session', `{"email":"ann@example.org","password":"${password}"`)
    // The response names an unknown member.
    await createVisitor(url).request('POST', '/api/session', { email: 'ann@example.org', password, [password]: wrong })
    await send(createVisitor(url), `GET /api/session?password=${password}`)
    await send(createVisitor(url), `GET /${password}`)
    expect((await send(ann, 'POST /api/session', { email: 'ann@example.org', password })).status).toBe(200)
    expect((await send(ann, 'POST /api/account/password', { current: password, next })).status).toBe(200)
    await send(ann, 'POST /api/account/password', { current: wrong, next: password })
    const leaver = createVisitor(url)
    await send(leaver, 'POST /api/account', { email: 'leaver@example.org', password })
    const operator = { authorization: `Bearer ${environment['KEYRAIL_OPERATOR_TOKEN']}` }
    const badOperator = { authorization: `Bearer ${remember('a wrong token', random())}` }
    for (const headers of [operator, badOperator])
      for (const path of ['overview', 'users', 'invites', 'audit-log'])
        await send(leaver, `GET /api/admin/${path}`, undefined, headers)

    // Apps and keys.
    const created = await get(ann, 'POST /api/apps', {
      body: { name: 'wallet', useCase: 'Wallet', chain: 'testland', services: ['Node API'] },
      shows: ({ apiKey }) => [apiKey],
    })
    const params = { appId: created.app.id }
    const rotated = await get(ann, 'POST /api/apps/{appId}/key/rotate', {
      params,
      body: { graceDays: 1 },
      shows: ({ apiKey }) => [apiKey],
    })
    const revealed = await get(ann, 'POST /api/apps/{appId}/key/reveal', { params, shows: ({ apiKey }) => [apiKey] })
    expect(revealed.apiKey).toBe(rotated.apiKey)
    const apiKey = await get(ann, 'POST /api/keys', {
      body: { name: 'one', network: 'testnet' },
      shows: ({ apiKey }) => [apiKey],
    })
    const key = await get(ann, 'POST /api/keys/{keyId}/rotate', {
      params: { keyId: apiKey.key.id },
      body: { graceDays: 1 },
      shows: ({ apiKey }) => [apiKey],
    })
    const revoked = await get(ann, 'POST /api/keys', {
      body: { name: 'two', network: 'testnet' },
      shows: ({ apiKey }) => [apiKey],
    })
    await get(ann, 'POST /api/keys/{keyId}/revoke', { params: { keyId: revoked.key.id } })
    await send(ann, `GET /api/keys/${key.apiKey}`)
    const { token } = await get(ann, 'POST /api/tokens', {
      body: { label: 'ci', scopes: ['read', 'keys:write'], expiresAt: null },
      shows: (response) => [response.token],
    })
    const script = createVisitor(url)
    for (const name of ['GET /api/apps', 'POST /api/apps', 'GET /api/keys', 'GET /api/tokens'] as const)
      await send(script, name, name.startsWith('POST') ? {} : undefined, { authorization: `Bearer ${token}` })
    await send(script, `GET /api/apps?token=${token}`)

    // Allow lists and JWTs.
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    remember('a private key', pem.split('\n')[1] ?? '')
    const jwtKeys = `POST /api/apps/${created.app.id}/jwt-keys` as const
    for (const bad of [pem, pem.replaceAll('\n', ''), `${pem}${pem}`, pem.slice(0, 80)])
      expect((await send(ann, jwtKeys, { pem: bad })).status).toBe(422)
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
      await send(ann, `POST /api/apps/${created.app.id}/jwt-keys/test`, { token: jwt })
    }
    for (const [type, value] of [
      ['origin', 'https://app.example.org'],
      ['ip', '127.0.0.0/8'],
      ['userAgent', 'wallet/'],
    ] as const)
      await get(ann, 'POST /api/apps/{appId}/allow-list', { params, body: { type, value } })

    // Valid and invalid calls, with secrets in the wrong places.
    const unknownKey = remember('an unknown key', createApiKey('testnet'))
    const getAppUrl = rotated.urls['testnet'] ?? ''
    const allowed = { origin: 'https://app.example.org', 'user-agent': 'wallet/1.0' }
    const { testnet: node } = nodes
    const behaviours: FakeUpstream['behave'][] = [
      (seen) => result(seen, '"0x1"'),
      (seen) => {
        const { url: at } = node
        const basic = Buffer.from(`${nodeSecrets.user}:${nodeSecrets.password}`).toString('base64')
        const message = JSON.stringify(`cannot reach ${at} ${encodeURIComponent(at)} ${basic}`)
        return `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32000,"message":${message},"data":${message}}}`
      },
      () => `<html>${node.url}</html>`,
      () => undefined,
    ]
    const urls = [
      key.url,
      apiKey.url,
      revoked.url,
      `${url}/testnet/${unknownKey}`,
      `${url}/mainnet/${key.apiKey}`,
      `${url}/testnet/v2/${key.apiKey}`,
      `${url}/testnet/${rotated.apiKey}`,
      `${url}/testnet/v1/${rotated.apiKey}`,
      `${url}/${key.apiKey}`,
      `${url}/api/${key.apiKey}`,
      `${url}/testnet/?key=${key.apiKey}`,
      `${key.url}?token=${token}`,
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
        [getAppUrl, created.urls['testnet'] ?? '', `${url}/testnet/v2`].map((address) =>
          post(address, call('eth_gasPrice'), {
            ...allowed,
            ...(jwt === undefined ? {} : { authorization: `Bearer ${jwt}` }),
          }),
        ),
      )
      const byAddress = urls.flatMap((address) => bodies.map((body) => post(address, body)))
      const statuses = await Promise.all([...byToken, ...byAddress])
      expect(new Set(statuses).size).toBeGreaterThan(4)
    }
    node.behave = (seen) => result(seen, '"0x1"')
    // The response names an unknown method.
    await fetch(key.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: call(key.apiKey),
    })
    await post(key.url, call('eth_call', [{ data: key.apiKey }], unknownKey).replace(`"${unknownKey}"`, '1'), {
      referer: key.url,
      'user-agent': token,
      'x-forwarded-for': key.apiKey,
      'x-request-id': key.apiKey,
      cookie: ann.cookie,
      origin: `https://${unknownKey}.example`,
    })
    await post(key.url, `${call()}${' '.repeat(3_000_000)}`)
    for (const path of [
      new URL(key.url).pathname,
      `/${key.apiKey}`,
      `/sign-up?invite=${token}`,
      `/testnet/${unknownKey}`,
    ]) {
      const response = await fetch(`${url}${path}`)
      record('a page', { headers: response.headers, text: await response.text() })
    }
    for (const text of [
      `POST ${new URL(key.url).pathname} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
      `POST ${new URL(key.url).pathname} NONSENSE\r\n\r\n`,
      `POST /testnet/${key.apiKey} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{`,
      `CONNECT ${key.apiKey}:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET http://${token}@host/${key.apiKey} HTTP/1.1\r\nHost: ${key.apiKey}\r\n\r\n`,
    ]) {
      const connection = await openRaw(service.port)
      connection.send(text)
      record('broken HTTP', { headers: new Headers(), text: JSON.stringify(await connection.next()) })
      connection.destroy()
    }

    // WebSockets.
    node.behave = (seen) => result(seen, seen.method.startsWith('eth_getBlock') ? onlyBlock.text : '"0x1"')
    const received: ScanTarget[] = []
    const recordSocket = (name: string, text: string): void => void received.push({ name, bytes: text })
    const sent = [key.apiKey, token, tokens[0] ?? '']
    const attempts = [
      ...urls.map((address) => ({ url: address })),
      ...tokens.flatMap((jwt) => [
        { url: getAppUrl, headers: { ...allowed, authorization: `Bearer ${jwt}` } },
        { url: getAppUrl, headers: allowed, protocols: ['bearer', jwt] },
        { url: getAppUrl, headers: allowed, protocols: [jwt] },
      ]),
    ]
    const accepted = await Promise.all(attempts.map((attempt) => sendSecrets(attempt, sent, recordSocket)))
    expect(new Set(accepted).size).toBe(2)
    const subscribed = await openSubscriptions({ url: key.url }, recordSocket)
    await expect.poll(socketNode.open).toBeGreaterThan(0)
    expect(socketNode.handshakes[0]?.url).toContain(nodeSecrets.webSocket)
    sendNodeSecrets(socketNode, [nodeSecrets.webSocket, socketNode.wsUrl])
    rejectWithSecret(socketNode, nodeSecrets.webSocket)
    socketNode.cut()
    await service.logged('a lost socket', ({ event, state }) => event === 'nodeSocket' && state === 'lost')
    // A message that is too big, a frame that is none, a key that is revoked and a token that expires.
    const large = await openSubscriptions({ url: key.url }, recordSocket)
    large.send(key.apiKey.repeat(100_000))
    const broken = await openSubscriptions({ url: key.url }, recordSocket)
    broken.ws.on('close', () => {})
    ;(broken.ws as unknown as { readonly _socket: Socket })._socket.write(
      Buffer.from([0xff, 0xff, ...Buffer.from(key.apiKey)]),
    )
    const short = signToken({ ...signer, kid }, { exp: Math.floor(Date.now() / 1_000) + 15, jti: random() })
    remember('the signature of a token', short.split('.')[2] ?? '')
    const expiring = await openSubscriptions(
      { url: getAppUrl, headers: allowed, protocols: ['bearer', short] },
      recordSocket,
    )
    const third = await get(ann, 'POST /api/keys', {
      body: { name: 'three', network: 'testnet' },
      shows: (shown) => [shown.apiKey],
    })
    const ended = await openSubscriptions({ url: third.url }, recordSocket)
    await get(ann, 'POST /api/keys/{keyId}/revoke', { params: { keyId: third.key.id } })
    expect(await Promise.all([large, broken, expiring, ended].map(({ closed }) => closed))).toMatchObject([
      { code: 1009 },
      {},
      { code: 1008 },
      { code: 1008, reason: 'key_revoked' },
    ])

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
    await send(bob, 'POST /api/account', { email: 'bob@example.org', password, invite })
    await send(bob, 'POST /api/account', { email: 'bob2@example.org', password, invite })
    const reset = await operate(['users', 'reset-password', 'bob@example.org'], ({ url: link }) => [
      String(link).split('#')[1] ?? '',
    ])
    const link = String(reset.json['url']).split('#')[1] ?? ''
    for (let each = 0; each < 2; each += 1)
      await send(bob, 'POST /api/account/password/reset', { link, password: next })
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

    // Invalid configs, and a valid one.
    const reload = async (text: string): Promise<void> => {
      const before = service.lines().filter(({ event }) => event === 'config').length
      writeFileSync(configFile, text)
      await expect.poll(() => service.lines().filter(({ event }) => event === 'config').length).toBeGreaterThan(before)
    }
    const badUpstream = remember('an upstream that is rejected', random())
    await reload(`{"networks":{"testnet":{"upstreams":[{"url":"http://127.0.0.1:9/${badUpstream}",}]}}}`)
    await reload(
      JSON.stringify({
        ...config,
        networks: { testnet: { chainId: badUpstream, upstreams: [{ url: `ftp://${badUpstream}` }] } },
      }),
    )
    await reload(JSON.stringify({ ...config, [badUpstream]: 1, publicUrl: `http://${badUpstream}@x` }))
    await reload(JSON.stringify({ ...config, limits: { apiKeys: { perDay: 300 } } }))

    // Everything that owners and operators can read.
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
      `apps/${created.app.id}`,
      `apps/${created.app.id}/allow-list`,
      `apps/${created.app.id}/jwt-keys`,
      `apps/${created.app.id}/usage`,
      `apps/${created.app.id}/metrics?range=hour`,
      `keys/${apiKey.key.id}`,
    ])
      expect([path, (await send(ann, `GET /api/${path}`)).status]).toEqual([path, 200])
    for (const path of ['overview', 'users', 'invites', 'audit-log'])
      expect((await send(createVisitor(url), `GET /api/admin/${path}`, undefined, operator)).status).toBe(200)
    await send(leaver, 'POST /api/account/delete', { password: wrong })
    expect((await send(leaver, 'POST /api/account/delete', { password })).status).toBe(204)
    const description = random()
    await get(ann, 'POST /api/apps', {
      body: { name: 'search', description, useCase: 'Other', chain: 'testland', services: ['Node API'] },
      shows: ({ apiKey }) => [apiKey],
    })
    for (const path of ['healthz', 'readyz']) await send(ann, `GET /${path}`)
    expect((await send(ann, 'DELETE /api/session', {})).status).toBe(204)

    const { port } = await service.logged('prometheus', ({ event }) => event === 'prometheusListening')
    const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
    const running = filesIn(folder)
    const { stdout, stderr, exitCode } = await service.stop()
    expect(await subscribed.closed).toEqual({ code: 1012, reason: 'service restart' })
    const stopped = filesIn(folder)
    const output: ScanTarget[] = [
      { name: 'the log', bytes: stdout },
      { name: 'the errors', bytes: stderr },
      { name: 'the metrics', bytes: metrics },
      ...printed,
      ...responses,
      ...received,
    ]
    const files = [
      ...running.map(({ name, bytes }) => ({ name: `${name} while running`, bytes })),
      ...stopped.map(({ name, bytes }) => ({ name: `${name} after the stop`, bytes })),
    ]

    expect(findSecrets(secrets, [...output, ...files])).toEqual([])
    expect(findSecrets(hashes, output)).toEqual([])
    expect([exitCode, stderr]).toEqual([0, ''])
    // Redaction is the last line of defence: no entry should need it.
    expect(stdout.split('\n').filter((line) => line.includes('[secret]'))).toEqual([])

    // The interesting events did happen.
    const events = new Set(service.lines().map(({ event, reason }) => reason ?? event))
    for (const one of [
      'key_revoked',
      'message_too_big',
      'protocol_error',
      'nodeSocket',
      'upstream_bad',
      'upstream_timeout',
      'bad_http',
      'jwt_invalid',
      'page',
      'control',
      'config',
    ])
      expect(events).toContain(one)
    // The search covers the files: it finds text that is known to be in them.
    expect(secrets.length).toBeGreaterThan(40)
    expect(running.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['data/copy.db', 'data/keyrail.db', 'data/keyrail.db-shm', 'data/keyrail.db-wal']),
    )
    const inFiles = findSecrets([{ name: 'it', text: description }], files)
    expect(inFiles).toEqual(
      expect.arrayContaining([
        'it as plain text in data/keyrail.db-wal while running',
        'it as plain text in data/keyrail.db after the stop',
      ]),
    )
    const requestId = service.lines().findLast(({ event }) => event === 'request')?.['requestId']
    const known: Secret[] = [
      { name: 'a request', text: String(requestId), whole: true },
      { name: 'a metric', text: 'keyrail_calls_total', whole: true },
    ]
    expect(findSecrets(known, output)).toEqual(
      expect.arrayContaining(['a request as plain text in the log', 'a metric as plain text in the metrics']),
    )
    expect(
      findSecrets(
        [{ name: 'a key', text: key.apiKey }],
        [{ name: 'the log', bytes: stdout.replace('"request"', `"${encodeURIComponent(key.url)}"`) }],
      ),
    ).toEqual(['a key as plain text in the log'])
  })
})
