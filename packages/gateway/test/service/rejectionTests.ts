import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import type { ControlApi, RejectionReason } from '../../src/index.ts'
import { openRaw } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import type { PlaceKind } from './places.ts'
import { spellingsOf, writtenIn } from './spellings.ts'
import { nodeSecret, startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

type App = ControlApi['POST /api/apps']['response']

const call = (method = 'eth_blockNumber', params: unknown = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
const listed = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'

/** What this test does not bring about: they need a database that is gone, or a node with all its connections in use. */
const elsewhere: readonly RejectionReason[] = ['key_store_unavailable', 'upstream_busy']

/** Brings about every rejection of a service in a place, and then looks at everything that it wrote. */
export const testRejections = (kind: PlaceKind): void => {
  describe(`every rejection, on ${kind.name}`, () => {
    const password = `pass-${randomBytes(12).toString('base64url')}`
    const operatorToken = randomBytes(32).toString('base64url')
    const signer = createSigner('unknown')
    const secrets: string[] = [password, operatorToken, nodeSecret]
    const seen = new Set<string>()
    let service: TestService
    let ann: Visitor
    const remember = (secret: string): string => {
      secrets.push(secret)
      return secret
    }

    beforeAll(async () => {
      service = await startTestService(
        kind,
        {
          prometheus: { port: 0 },
          services: { debug: true },
          limits: { apiKeys: { perDay: 40 }, apps: { perSecond: 100, burst: 1_000 } },
          bounds: { upstreamTimeoutMs: 1_000, requestTimeoutMs: 1_500, maxResponseBytes: 1_000_000, maxBatchCalls: 50 },
        },
        { KEYRAIL_OPERATOR_TOKEN: operatorToken },
      )
      secrets.push(service.place.environment['KEYRAIL_SECRET'] ?? '')
      for (const url of [service.place.environment['DATABASE_URL'], service.place.environment['REDIS_URL']])
        if (url !== undefined) secrets.push(new URL(url).password)
      ann = createVisitor(service.url)
      await ann.get('POST /api/account', { body: { email: 'ann@example.org', password } })
      remember(ann.cookie.split('=')[1] ?? '')
    })
    afterAll(async () => {
      expect(await service.close()).toMatchObject({ stderr: '' })
    })

    let apps = 0
    const makeApp = async (): Promise<App & { add: (type: string, value: string) => Promise<void> }> => {
      const made = await ann.get('POST /api/apps', {
        body: { name: `app ${(apps += 1)}`, useCase: 'Other', chain: 'TST', services: ['Node API'] },
      })
      remember(made.apiKey)
      return {
        ...made,
        add: async (type, value) => {
          const { status, text } = await ann.ask('POST', `/api/apps/${made.app.id}/allow-list`, { type, value })
          expect([status, text]).toEqual([201, expect.anything()])
        },
      }
    }
    const makeKey = async (name: string, more: object = {}) => {
      const made = await ann.get('POST /api/keys', { body: { name, network: 'testnet', ...more } })
      remember(made.apiKey)
      return made
    }
    const rejected = async (
      address: string,
      body: string = call(),
      headers: Readonly<Record<string, string>> = {},
    ): Promise<[number, string | undefined]> => {
      const {
        status,
        text,
        headers: answered,
      } = await post(address, body, {
        headers: { 'content-type': 'application/json', ...headers },
      })
      const { error } = JSON.parse(text) as {
        error?: { message?: string; data?: { reason?: string; requestId?: string } }
      }
      const reason = error?.data?.reason
      if (reason !== undefined) {
        seen.add(reason)
        expect(error?.message).toMatch(/\w/)
        expect(error?.data?.requestId).toBe(answered.get('x-request-id'))
        expect(answered.get('access-control-allow-origin')).toBe('*')
      }
      return [status, reason]
    }

    test('of keys and paths', async () => {
      const { apiKey, addresses, app } = await makeApp()
      const key = await makeKey('wrong network')
      expect(await rejected(`${service.url}/testnet/v2/${remember(createApiKey('app'))}`)).toEqual([401, 'key_unknown'])
      expect(await rejected(`${service.url}/testnet/${apiKey}`)).toEqual([401, 'key_wrong_path'])
      expect(await rejected(key.address.replace('/testnet/', '/mainnet/'))).toEqual([403, 'wrong_network'])
      expect(await rejected(`${service.url}/testnet/v3/${apiKey}`)).toEqual([404, 'not_found'])
      // What stands in a query is neither a key nor ever written down.
      expect(await rejected(`${addresses.testnet.replace(apiKey, '')}?apiKey=${apiKey}`)).toEqual([401, 'key_unknown'])
      await ann.ask('POST', `/api/keys/${key.key.id}/revoke`, {})
      expect(await rejected(key.address)).toEqual([401, 'key_revoked'])
      const brief = await makeKey('brief', { expiresAt: new Date(Date.now() + 1_500).toISOString() })
      expect(await rejected(brief.address)).toEqual([200, undefined])
      await expect.poll(() => rejected(brief.address)).toEqual([401, 'key_expired'])
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      expect((await ann.ask('PATCH', `/api/apps/${app.id}`, { version, services: [] })).status).toBe(200)
      expect(await rejected(addresses.testnet)).toEqual([403, 'service_off'])
    })

    test('of HTTP', async () => {
      const { addresses } = await makeApp()
      const get = await fetch(addresses.testnet)
      expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      seen.add('http_method')
      expect(await rejected(addresses.testnet, call(), { 'content-type': 'text/plain' })).toEqual([415, 'content_type'])
      expect(await rejected(addresses.testnet, 'x'.repeat(3 * 1024 * 1024))).toEqual([413, 'body_too_large'])
      const path = new URL(addresses.testnet).pathname
      const raw = async (text: string): Promise<[number, string]> => {
        const connection = await openRaw(service.process.port)
        connection.send(text)
        const { status, body } = await connection.next()
        const { reason } = (JSON.parse(body) as { error: { data: { reason: string } } }).error.data
        seen.add(reason)
        return [status, reason]
      }
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
      expect(await raw('NOTHING\r\n\r\n')).toEqual([400, 'bad_http'])
      expect(await raw(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`)).toEqual([400, 'bad_http'])
      expect(await raw(`${head}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`)).toEqual([431, 'headers_too_large'])
      expect(await raw(`${head}Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}`)).toEqual([417, 'expectation_failed'])
      expect(await raw(`${head}Content-Length: 20\r\n\r\n{`)).toEqual([408, 'request_timeout'])
    })

    test('of what is asked', async () => {
      const { addresses } = await makeApp()
      const asked = (body: string) => rejected(addresses.testnet, body)
      expect(await asked('{')).toEqual([400, 'parse_error'])
      expect(await asked('[]')).toEqual([400, 'batch_empty'])
      expect(await asked('{"jsonrpc":"2.0"}')).toEqual([400, 'invalid_request'])
      expect(await asked(`[${Array.from({ length: 51 }, () => call()).join(',')}]`)).toEqual([413, 'batch_too_large'])
      expect(await asked(call('eth_sign'))).toEqual([200, 'method_not_found'])
      expect(await asked(call('eth_call', 'nothing'))).toEqual([200, 'invalid_params'])
      expect(await asked(call('debug_traceTransaction', ['0x01', { tracer: '{}' }]))).toEqual([
        403,
        'tracer_not_allowed',
      ])
    })

    test('of an allow list', async () => {
      const lists = await Promise.all(Array.from({ length: 5 }, makeApp))
      const [origin, ip, agent, method, address] = lists
      await origin?.add('origin', 'https://app.example.org')
      await ip?.add('ip', '203.0.113.0/24')
      await agent?.add('userAgent', 'MyWallet/')
      await method?.add('method', 'eth_call')
      await address?.add('address', listed)
      const at = (app: App | undefined): string => app?.addresses.testnet ?? ''
      expect(await rejected(at(origin))).toEqual([403, 'origin_not_allowed'])
      expect(await rejected(at(origin), call(), { origin: 'https://evil.example' })).toEqual([
        403,
        'origin_not_allowed',
      ])
      expect(await rejected(at(origin), call(), { origin: 'https://app.example.org' })).toEqual([200, undefined])
      expect(await rejected(at(ip), call(), { 'x-forwarded-for': '203.0.113.7' })).toEqual([403, 'ip_not_allowed'])
      expect(await rejected(at(agent))).toEqual([403, 'user_agent_not_allowed'])
      expect((await rejected(at(method)))[1]).toBe('method_not_allowed')
      expect(await rejected(at(method), call('eth_call', [{ to: other }, 'latest']))).toEqual([200, undefined])
      expect((await rejected(at(address), call('eth_call', [{ to: other }, 'latest'])))[1]).toBe('address_not_allowed')
      expect(await rejected(at(address), call('eth_call', [{ to: listed }, 'latest']))).toEqual([200, undefined])
    })

    test('of a token', async () => {
      const { app, apiKey, addresses } = await makeApp()
      const { kid } = await ann.get('POST /api/apps/{appId}/jwt-keys', {
        params: { appId: app.id },
        body: { pem: signer.pem },
      })
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      await ann.get('PATCH /api/apps/{appId}', { params: { appId: app.id }, body: { version, requireJwt: true } })
      const exp = Math.floor(Date.now() / 1_000) + 600
      const good = remember(signToken({ ...signer, kid }, { exp }))
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
      expect(await rejected(addresses.testnet)).toEqual([401, 'jwt_invalid'])
      expect(
        await rejected(addresses.testnet, call(), bearer(remember(signToken({ ...signer, kid }, { exp: 1 })))),
      ).toEqual([401, 'jwt_invalid'])
      expect(await rejected(addresses.testnet, call(), bearer(good))).toEqual([200, undefined])
      // Alone as well: the token says which app it is of.
      expect(await rejected(`${service.url}/testnet/v2`, call(), bearer(good))).toEqual([200, undefined])
      const { token } = await ann.get('POST /api/tokens', { body: { label: 'one', scopes: ['read'], expiresAt: null } })
      const script = createVisitor(service.url)
      const asScript = { authorization: `Bearer ${remember(token)}` }
      expect((await script.ask('GET', '/api/apps', undefined, asScript)).status).toBe(200)
      expect((await script.ask('POST', '/api/keys', { name: 'no', network: 'testnet' }, asScript)).status).toBe(403)
      const { privateKey } = signer
      const pem = remember(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().split('\n')[1] ?? '')
      const sent = await ann.ask('POST', `/api/apps/${app.id}/jwt-keys`, {
        pem: `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`,
      })
      expect([sent.status, sent.text]).toEqual([422, expect.not.stringContaining(pem)])
      expect(apiKey).toMatch(/^kr_a/)
    })

    test('of limits', async () => {
      const { app, addresses } = await makeApp()
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      await ann.get('PATCH /api/apps/{appId}', {
        params: { appId: app.id },
        body: { version, limits: { perSecond: 1, burst: 2 } },
      })
      const several = await Promise.all(Array.from({ length: 6 }, () => rejected(addresses.testnet)))
      expect(several).toContainEqual([429, 'rate_limited'])
      expect(several.filter(([status]) => status === 200).length).toBeGreaterThanOrEqual(2)

      const key = await makeKey('quota')
      const answers: string[] = []
      for (let turn = 0; turn < 45; turn += 1) answers.push((await rejected(key.address)).join(' '))
      // Forty items a day for all keys of an account; what was asked of others before counts too.
      expect(answers.at(-1)).toBe('403 quota_exceeded')
      expect(answers.filter((answer) => answer.startsWith('200')).length).toBeLessThanOrEqual(40)
      const usage = await ann.get('GET /api/usage')
      expect(usage.day).toMatchObject({ limit: 40, remaining: 0 })

      const bob = createVisitor(service.url)
      await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
      const { address } = await bob.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
      remember(address.split('/').at(-1) ?? '')
      expect(await rejected(address)).toEqual([200, undefined])
      const operator = { authorization: `Bearer ${operatorToken}` }
      const users = (await bob.ask('GET', '/api/admin/users?search=bob', undefined, operator)).json as {
        items: { id: string }[]
      }
      const disabled = await bob.ask('POST', `/api/admin/users/${users.items[0]?.id}/disable`, {}, operator)
      expect(disabled.status).toBeLessThan(300)
      expect(await rejected(address)).toEqual([401, 'key_disabled'])
    })

    test('of the nodes', async () => {
      const { addresses } = await makeApp()
      const { testnet, mainnet } = service.nodes
      testnet.behave = () => undefined
      expect(await rejected(addresses.testnet, call('eth_getBlockReceipts', ['0x1']))).toEqual([
        504,
        'upstream_timeout',
      ])
      testnet.behave = () => '<html>'
      await expect.poll(() => rejected(addresses.testnet, call('eth_gasPrice'))).toEqual([502, 'upstream_bad'])
      testnet.behave = ({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(1_100_000)}"}`
      await expect
        .poll(() => rejected(addresses.testnet, call('eth_getLogs', [{}])))
        .toEqual([502, 'response_too_large'])
      await mainnet.stop()
      await expect.poll(() => rejected(addresses.mainnet)).toEqual([503, 'no_upstream'])
      expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    })

    test('of strangers, who cost nobody else anything', async () => {
      const { addresses } = await makeApp()
      const stranger = `${service.url}/testnet/v2/${remember(createApiKey('app'))}`
      const answers = await Promise.all(Array.from({ length: 150 }, () => rejected(stranger)))
      expect(answers).toContainEqual([429, 'key_unknown_limited'])
      service.nodes.testnet.behave = ({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`
      await expect.poll(async () => (await rejected(addresses.testnet))[0]).toBe(200)
    })

    test('is in the log and the metrics, and no secret is anywhere', async () => {
      const { port } = await service.process.logged('prometheus', ({ event }) => event === 'prometheusListening')
      const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
      const told = metrics + service.process.printed().stdout
      // What Node cannot read as HTTP has no request to be logged with.
      const untold = new Set(['bad_http', 'headers_too_large', 'request_timeout'])
      expect([...seen].filter((reason) => !untold.has(reason) && !told.includes(reason))).toEqual([])

      // The config is where the nodes' addresses are meant to be. Before the end, what SQLite has only in its log is looked at too.
      const before = await writtenIn(service.place, ['keyrail.config.json'])
      const { stdout, stderr } = await service.process.stop()
      const written = [...before, ...(await writtenIn(service.place, ['keyrail.config.json']))]
      const places: [string, Buffer][] = [
        ['log', Buffer.from(stdout + stderr)],
        ['metrics', Buffer.from(metrics)],
        ...written,
      ]
      expect(places.length).toBeGreaterThan(2)
      const found = secrets.flatMap((secret, index) =>
        places
          .filter(([, bytes]) => spellingsOf(secret).some((spelling) => bytes.includes(spelling)))
          .map(([place]) => `secret ${index} (${secret.slice(0, 4)}…) in ${place}`),
      )
      expect(found).toEqual([])
      // What is no secret is found, so the look is a look.
      expect(written.some(([, bytes]) => bytes.includes('ann@example.org'))).toBe(true)
      expect(secrets.length).toBeGreaterThan(25)
    })

    test('was brought about, but for those that are tried elsewhere', async () => {
      const source = await import('../../src/errors/rejections.ts')
      expect(Object.keys(source.rejections).length).toBeGreaterThan(30)
      const all: Record<RejectionReason, true> = {
        not_found: true,
        http_method: true,
        content_type: true,
        expectation_failed: true,
        bad_http: true,
        headers_too_large: true,
        request_timeout: true,
        body_too_large: true,
        key_unknown: true,
        key_unknown_limited: true,
        key_revoked: true,
        key_expired: true,
        key_disabled: true,
        key_wrong_path: true,
        key_store_unavailable: true,
        wrong_network: true,
        service_off: true,
        ip_not_allowed: true,
        origin_not_allowed: true,
        user_agent_not_allowed: true,
        method_not_allowed: true,
        address_not_allowed: true,
        tracer_not_allowed: true,
        jwt_invalid: true,
        rate_limited: true,
        quota_exceeded: true,
        parse_error: true,
        invalid_request: true,
        batch_empty: true,
        batch_too_large: true,
        invalid_params: true,
        method_not_found: true,
        no_upstream: true,
        upstream_busy: true,
        upstream_timeout: true,
        upstream_bad: true,
        response_too_large: true,
        draining: true,
      }
      const missing = Object.keys(all).filter(
        (reason) => !seen.has(reason) && !elsewhere.includes(reason as RejectionReason),
      )
      // That a service that is stopping rejects is tried where it is stopped.
      expect(missing).toEqual(['draining'])
    })
  })
}
