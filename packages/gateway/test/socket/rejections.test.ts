import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { compileJwtPolicy } from '../../src/auth/jwt/jwtPolicy.ts'
import { createApiKey } from '../../src/index.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import { call, noLimits, noon, startTenants, openTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { openSocket, rejectSocket } from './openSocket.ts'

let started: StartedTenants
let brokenStore = false

beforeAll(async () => {
  started = await startTenants({ testKeys: true, networkHosts: '{network}.rpc.example.org' })
  const { find } = started.keys
  started.keys.find = (hash) => {
    if (brokenStore) throw new Error('the database is unreachable')
    return find(hash)
  }
})
afterAll(() => started.stop())

const signer = createSigner('kid-one')
const exp = noon / 1000 + 600
const jwt = (required: boolean) => ({
  jwt: { policy: compileJwtPolicy({ keys: [{ kid: signer.kid, pem: signer.pem }] }), required },
})
const allow = (entries: Parameters<typeof compileAllowList>[0]) => ({ allow: compileAllowList(entries) })

/** Each rejection before the upgrade: its name, and the URL with what makes it be rejected. */
const cases: readonly [status: number, reason: string, getUrl: () => string, headers?: Record<string, string>][] = [
  [404, 'not_found', () => `${started.url}/nowhere/v2/${started.app}`],
  [417, 'expectation_failed', () => started.addApp().path, { Expect: 'cake' }],
  [401, 'key_unknown', () => `${started.url}/testnet/v2/${createApiKey('app')}`],
  [401, 'key_unknown', () => `${started.url}/testnet/none`],
  [401, 'key_unknown', () => `${started.url}/testnet/v2`],
  [401, 'key_revoked', () => `${started.url}/testnet/${started.revokedKey}`],
  [401, 'key_expired', () => `${started.url}/testnet/${started.expiredKey}`],
  [401, 'key_expired', () => started.addApp({ expiresAt: noon }).path],
  [401, 'key_disabled', () => started.addApp({ status: 'disabled' }).path],
  [401, 'key_wrong_path', () => `${started.url}/testnet/${started.app}`],
  [403, 'wrong_network', () => `${started.url}/testnet/${started.mainnetKey}`],
  [403, 'ip_not_allowed', () => started.addApp(allow({ ips: [{ value: '203.0.113.7' }] })).path],
  [403, 'origin_not_allowed', () => started.addApp(allow({ origins: [{ value: 'https://good.example' }] })).path],
  [
    403,
    'origin_not_allowed',
    () => started.addApp(allow({ origins: [{ value: 'https://good.example' }] })).path,
    { Origin: 'https://bad.example' },
  ],
  [403, 'user_agent_not_allowed', () => started.addApp(allow({ userAgents: [{ value: 'good' }] })).path],
  [403, 'service_off', () => started.addApp({ services: [] }).path],
  [401, 'jwt_invalid', () => started.addApp(jwt(true)).path],
  [401, 'jwt_invalid', () => started.addApp(jwt(true)).path, { Authorization: 'Bearer nonsense' }],
  [429, 'rate_limited', () => `${started.url}/testnet/kr_test_429`],
  [401, 'key_unknown', () => `${started.url}/testnet/kr_test_401`],
]

describe('a WebSocket that is rejected', () => {
  test.each(cases.map(([status, reason, getUrl, headers = {}], index) => ({ index, status, reason, getUrl, headers })))(
    'case $index gets $status $reason before the upgrade, like a POST',
    async ({ status, reason, getUrl, headers }) => {
      const url = getUrl()
      started.entries.length = 0
      const rejected = await rejectSocket(url, { headers })
      expect([rejected.status, rejected.reason]).toEqual([status, reason])
      expect(rejected.headers).toMatchObject({ connection: 'close', 'content-type': 'application/json' })
      const { requestId } = (JSON.parse(rejected.text) as { error: { data: { requestId: string } } }).error.data
      expect(rejected.headers['x-request-id']).toBe(requestId)
      await expect.poll(() => started.entries).toMatchObject([{ event: 'request', requestId, status, reason }])
      // Otherwise an upgrade would reveal more than a POST.
      const { Expect: expectation, ...sent } = headers
      if (expectation !== undefined) return
      const posted = await post(url, call('eth_gasPrice'), { headers: { 'content-type': 'application/json', ...sent } })
      const withoutId = (text: string): string => text.replaceAll(/"(?:requestId|id|current_rps)":[^,}]+/g, '')
      expect([posted.status, withoutId(posted.text)]).toEqual([status, withoutId(rejected.text)])
    },
  )

  test('gets 503 if keys cannot be looked up', async () => {
    brokenStore = true
    const rejected = await rejectSocket(started.addApp().path)
    brokenStore = false
    expect([rejected.status, rejected.reason]).toEqual([503, 'key_store_unavailable'])
  })

  test('takes one call from the rate and none from the quota, also if it is accepted', async () => {
    const { path } = started.addApp({ limits: { ...noLimits, perSecond: 1, burst: 2, perDay: 5 } })
    const first = await openSocket(path)
    const second = await openSocket(path)
    onTestFinished(() => [first, second].forEach(({ ws }) => ws.terminate()))
    const rejected = await rejectSocket(path)
    expect([rejected.status, rejected.reason]).toEqual([429, 'rate_limited'])
    expect(rejected.headers['retry-after']).toBeDefined()
    expect(rejected.headers['x-ratelimit-limit-second'] ?? rejected.headers['x-ratelimit-limit']).toBeDefined()
  })

  test('too many unknown keys get 429', async () => {
    const own = await openTenants({ unknownKeys: { perSecond: 1, burst: 1 } })
    expect((await rejectSocket(`${own.url}/testnet/none`)).reason).toBe('key_unknown')
    const limited = await rejectSocket(`${own.url}/testnet/none`)
    expect([limited.status, limited.reason]).toEqual([429, 'key_unknown_limited'])
  })
})

describe('the connections that are open', () => {
  test('of a key, and of a user, are bounded; one that closes makes room', async () => {
    const own = await openTenants({ webSocket: { maxConnectionsPerKey: 1, maxConnectionsPerUser: 2 } })
    const [one, two, three] = [0, 1, 2].map(() => own.addApp({ userId: 'usr_1' }).path) as [string, string, string]
    const socket = await openSocket(one)
    const again = await rejectSocket(one)
    expect([again.status, again.reason, again.text]).toEqual([
      429,
      'too_many_connections',
      expect.stringContaining('at most 1 for each key'),
    ])
    await openSocket(two)
    expect((await rejectSocket(three)).text).toContain('at most 2 for each user')
    socket.ws.close()
    await socket.closed
    await expect
      .poll(() =>
        openSocket(three).then(
          ({ ws }) => ws.readyState,
          () => undefined,
        ),
      )
      .toBe(1)
  })

  test('of an IP are bounded, as a trusted proxy forwards it', async () => {
    const own = await openTenants({ webSocket: { maxConnectionsPerIp: 1 }, trustedProxies: ['127.0.0.1'] })
    const from = (ip: string) => ({ headers: { 'X-Forwarded-For': ip } })
    await openSocket(own.addApp().path, from('203.0.113.1'))
    expect((await rejectSocket(own.addApp().path, from('203.0.113.1'))).text).toContain('at most 1 for each IP')
    await openSocket(own.addApp().path, from('203.0.113.2'))
    // A process on this machine may be a proxy for many callers.
    await openSocket(own.addApp().path)
    await openSocket(own.addApp().path)
  })
})

describe('a WebSocket that is accepted', () => {
  test('may have the host of a network', async () => {
    const { port, app } = started
    const headers = { Host: 'testnet.rpc.example.org' }
    const socket = await openSocket(`http://127.0.0.1:${port}/v2/${app}`, { headers })
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    socket.ws.terminate()
    const wrong = await rejectSocket(`http://127.0.0.1:${port}/v2/none`, { headers })
    expect(wrong.reason).toBe('key_unknown')
  })

  test('may have an allowed origin, IP and user agent', async () => {
    const list = { origins: [{ value: 'https://good.example' }], ips: [{ value: '127.0.0.1' }] }
    const { path } = started.addApp(allow({ ...list, userAgents: [{ value: 'good' }] }))
    const socket = await openSocket(path, { headers: { Origin: 'https://good.example', 'User-Agent': 'very good' } })
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    socket.ws.terminate()
  })

  test('may have a token in the header, or as a subprotocol as browsers send it', async () => {
    const { path } = started.addApp(jwt(true))
    const token = signToken(signer, { exp, methods: ['eth_gasPrice'] })
    for (const [headers, protocols] of [
      [{ Authorization: `Bearer ${token}` }, []],
      [{}, ['bearer', token]],
    ] as const) {
      const socket = await openSocket(path, { headers }, [...protocols])
      expect(socket.ws.protocol).toBe(protocols.length === 0 ? '' : 'bearer')
      expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
      expect(await socket.call('eth_blockNumber')).toMatchObject({ error: { data: { reason: 'method_not_allowed' } } })
      socket.ws.terminate()
    }
    expect((await rejectSocket(path, {}, ['bearer', 'nonsense'])).reason).toBe('jwt_invalid')
    expect((await rejectSocket(path, {}, [token, 'bearer'])).reason).toBe('jwt_invalid')
  })

  test('may have a token instead of a key', async () => {
    started.keys.findByKid = (kid) =>
      kid === signer.kid
        ? { id: 'by-kid', kind: 'app', networks: ['testnet'], status: 'active', appId: 'app_kid', ...jwt(true) }
        : undefined
    const socket = await openSocket(`${started.url}/testnet/v2`, {}, ['bearer', signToken(signer, { exp })])
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    socket.ws.terminate()
  })

  test('of the test key for quotas gets its error in each response', async () => {
    const socket = await openSocket(`${started.url}/testnet/v2/kr_test_quota`)
    expect(await socket.call('eth_gasPrice')).toMatchObject({ error: { data: { reason: 'quota_exceeded' } } })
    socket.ws.terminate()
  })
})

describe('other requests', () => {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  const send = async (...texts: (string | Buffer)[]): Promise<number[]> => {
    const connection = await openRaw(started.port)
    for (const text of texts) connection.send(text)
    const statuses: number[] = []
    for (let index = 0; index < texts.length; index += 1) statuses.push((await connection.next()).status)
    connection.destroy()
    return statuses
  }
  const getPath = (): string => `/testnet/v2/${started.app}`

  test('a POST with an Upgrade header is a POST', async () => {
    for (const protocol of ['h2c', 'websocket'])
      expect(
        await send(postBytes(getPath(), call('eth_gasPrice'), { Connection: 'Upgrade', Upgrade: protocol })),
      ).toEqual([200])
  })

  test('a GET is rejected with 405, with any other Upgrade header too', async () => {
    expect(await send(`GET ${getPath()} HTTP/1.1\r\nHost: x\r\n\r\n`)).toEqual([405])
    expect(await send(`GET ${getPath()} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`)).toEqual([
      405,
    ])
  })

  test('a GET with a body, and one for another path, are no upgrades', async () => {
    expect(await send(`GET ${getPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n${upgrade}\r\n{}`)).toEqual([405])
    expect(await send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)).toEqual([200])
    expect(await send(`GET /api/apps HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)).toEqual([404])
  })

  test('an upgrade that follows a request without a response is no upgrade, and gets its response in order', async () => {
    const get = `GET ${getPath()} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`
    expect(await send(Buffer.concat([postBytes(getPath(), call('eth_gasPrice')), Buffer.from(get)]), '')).toEqual([
      200, 405,
    ])
  })

  test('an upgrade after a request with a response is one', async () => {
    expect(await send(postBytes(getPath(), call('eth_gasPrice')))).toEqual([200])
    const connection = await openRaw(started.port)
    connection.send(postBytes(getPath(), call('eth_gasPrice')))
    expect((await connection.next()).status).toBe(200)
    connection.send(`GET ${getPath()} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)
    expect((await connection.next()).status).toBe(101)
    connection.destroy()
  })

  test.each([
    ['another version', upgrade.replace('13', '12')],
    ['no version', upgrade.replace(/Sec-WebSocket-Version: 13\r\n/, '')],
    ['a short key', upgrade.replace('dGhlIHNhbXBsZSBub25jZQ==', 'c2hvcnQ=')],
    ['a subprotocol twice', `${upgrade}Sec-WebSocket-Protocol: a, a\r\n`],
    ['an empty subprotocol', `${upgrade}Sec-WebSocket-Protocol: a, ,b\r\n`],
    ['two hosts', `${upgrade}Host: y\r\n`],
  ])('a handshake with %s gets 400', async (_, headers) => {
    expect(await send(`GET ${getPath()} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)).toEqual([400])
  })

  test('without WebSockets a request for one is a GET', async () => {
    const own = await openTenants({ webSocket: { enabled: false } })
    const rejected = await rejectSocket(own.addApp().path)
    expect([rejected.status, rejected.reason]).toEqual([405, 'http_method'])
  })
})
