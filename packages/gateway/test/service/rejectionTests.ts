import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createApiKey } from '../../src/index.ts'
import type { ControlApi } from '../../src/index.ts'
import type { RejectionReason } from '../../src/errors/rejection.ts'
import { openRaw } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import type { PlaceKind } from './places.ts'
import { getEncodings, readStored } from './spellings.ts'
import { nodeSecret, startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'
import type { Visitor } from './visitor.ts'

type App = ControlApi['POST /api/apps']['response']

const call = (method = 'eth_blockNumber', params: unknown = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
const listed = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'

/** Not caused here: these need an unavailable database, or a node with all connections in use. */
const testedInOtherFiles: readonly RejectionReason[] = [
  'key_store_unavailable',
  'upstream_busy',
  'chain_reorganized',
  'nodes_disagree',
  'too_many_connections',
]

/** Causes every rejection of a service, then checks everything that the service wrote for secrets. */
export const testRejections = (kind: PlaceKind): void => {
  describe(`every rejection, on ${kind.name}`, needs(...(kind.programs ?? [])), () => {
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
          bounds: { upstreamTimeoutMs: 5_000, requestTimeoutMs: 5_000, maxResponseBytes: 1_000_000, maxBatchCalls: 50 },
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
    const createApp = async (): Promise<App & { add: (type: string, value: string) => Promise<void> }> => {
      const created = await ann.get('POST /api/apps', {
        body: { name: `app ${(apps += 1)}`, useCase: 'Other', chain: 'testland', services: ['Node API'] },
      })
      remember(created.apiKey)
      return {
        ...created,
        add: async (type, value) => {
          const { status, text } = await ann.request('POST', `/api/apps/${created.app.id}/allow-list`, { type, value })
          expect([status, text]).toEqual([201, expect.anything()])
        },
      }
    }
    const createKey = async (name: string, more: object = {}) => {
      const created = await ann.get('POST /api/keys', { body: { name, network: 'testnet', ...more } })
      remember(created.apiKey)
      return created
    }
    const getResult = async (
      address: string,
      body: string = call(),
      headers: Readonly<Record<string, string>> = {},
    ): Promise<[number, string | undefined]> => {
      const {
        status,
        text,
        headers: responseHeaders,
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
        expect(error?.data?.requestId).toBe(responseHeaders.get('x-request-id'))
        expect(responseHeaders.get('access-control-allow-origin')).toBe('*')
      }
      return [status, reason]
    }

    test('for keys and paths', async () => {
      const { apiKey, urls, app } = await createApp()
      const key = await createKey('wrong network')
      expect(await getResult(`${service.url}/testnet/v2/${remember(createApiKey('app'))}`)).toEqual([
        401,
        'key_unknown',
      ])
      expect(await getResult(`${service.url}/testnet/${apiKey}`)).toEqual([401, 'key_wrong_path'])
      expect(await getResult(key.url.replace('/testnet/', '/mainnet/'))).toEqual([403, 'wrong_network'])
      expect(await getResult(`${service.url}/testnet/v3/${apiKey}`)).toEqual([404, 'not_found'])
      // Keys in a query are ignored and never logged.
      expect(await getResult(`${(urls['testnet'] ?? '').replace(apiKey, '')}?apiKey=${apiKey}`)).toEqual([
        401,
        'key_unknown',
      ])
      await ann.request('POST', `/api/keys/${key.key.id}/revoke`, {})
      expect(await getResult(key.url)).toEqual([401, 'key_revoked'])
      const brief = await createKey('brief', { expiresAt: new Date(Date.now() + 5_000).toISOString() })
      await expect.poll(() => getResult(brief.url)).toEqual([401, 'key_expired'])
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      expect((await ann.request('PATCH', `/api/apps/${app.id}`, { version, services: [] })).status).toBe(200)
      expect(await getResult(urls['testnet'] ?? '')).toEqual([403, 'service_off'])
    })

    test('for HTTP', async () => {
      const { urls } = await createApp()
      const get = await fetch(urls['testnet'] ?? '')
      expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      seen.add('http_method')
      expect(await getResult(urls['testnet'] ?? '', call(), { 'content-type': 'text/plain' })).toEqual([
        415,
        'content_type',
      ])
      expect(await getResult(urls['testnet'] ?? '', 'x'.repeat(3 * 1024 * 1024))).toEqual([413, 'body_too_large'])
      const path = new URL(urls['testnet'] ?? '').pathname
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

    test('for calls', async () => {
      const { urls } = await createApp()
      const send = (body: string) => getResult(urls['testnet'] ?? '', body)
      expect(await send('{')).toEqual([400, 'parse_error'])
      expect(await send('[]')).toEqual([400, 'batch_empty'])
      expect(await send('{"jsonrpc":"2.0"}')).toEqual([400, 'invalid_request'])
      expect(await send(`[${Array.from({ length: 51 }, () => call()).join(',')}]`)).toEqual([413, 'batch_too_large'])
      expect(await send(call('eth_sign'))).toEqual([200, 'method_not_found'])
      expect(await send(call('eth_call', 'nothing'))).toEqual([200, 'invalid_params'])
      expect(await send(call('debug_traceTransaction', ['0x01', { tracer: '{}' }]))).toEqual([
        403,
        'tracer_not_allowed',
      ])
    })

    test('for allow lists', async () => {
      const lists = await Promise.all(Array.from({ length: 5 }, createApp))
      const [origin, ip, agent, method, address] = lists
      await origin?.add('origin', 'https://app.example.org')
      await ip?.add('ip', '203.0.113.0/24')
      await agent?.add('userAgent', 'MyWallet/')
      await method?.add('method', 'eth_call')
      await address?.add('address', listed)
      const at = (app: App | undefined): string => app?.urls['testnet'] ?? ''
      expect(await getResult(at(origin))).toEqual([403, 'origin_not_allowed'])
      expect(await getResult(at(origin), call(), { origin: 'https://evil.example' })).toEqual([
        403,
        'origin_not_allowed',
      ])
      expect(await getResult(at(origin), call(), { origin: 'https://app.example.org' })).toEqual([200, undefined])
      expect(await getResult(at(ip), call(), { 'x-forwarded-for': '203.0.113.7' })).toEqual([403, 'ip_not_allowed'])
      expect(await getResult(at(agent))).toEqual([403, 'user_agent_not_allowed'])
      expect((await getResult(at(method)))[1]).toBe('method_not_allowed')
      expect(await getResult(at(method), call('eth_call', [{ to: other }, 'latest']))).toEqual([200, undefined])
      expect((await getResult(at(address), call('eth_call', [{ to: other }, 'latest'])))[1]).toBe('address_not_allowed')
      expect(await getResult(at(address), call('eth_call', [{ to: listed }, 'latest']))).toEqual([200, undefined])
    })

    test('for JWTs', async () => {
      const { app, apiKey, urls } = await createApp()
      const { kid } = await ann.get('POST /api/apps/{appId}/jwt-keys', {
        params: { appId: app.id },
        body: { pem: signer.pem },
      })
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      await ann.get('PATCH /api/apps/{appId}', { params: { appId: app.id }, body: { version, requireJwt: true } })
      const exp = Math.floor(Date.now() / 1_000) + 600
      const good = remember(signToken({ ...signer, kid }, { exp }))
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
      expect(await getResult(urls['testnet'] ?? '')).toEqual([401, 'jwt_invalid'])
      expect(
        await getResult(urls['testnet'] ?? '', call(), bearer(remember(signToken({ ...signer, kid }, { exp: 1 })))),
      ).toEqual([401, 'jwt_invalid'])
      expect(await getResult(urls['testnet'] ?? '', call(), bearer(good))).toEqual([200, undefined])
      // Also without a key in the path: the token identifies its app.
      expect(await getResult(`${service.url}/testnet/v2`, call(), bearer(good))).toEqual([200, undefined])
      const { token } = await ann.get('POST /api/tokens', { body: { label: 'one', scopes: ['read'], expiresAt: null } })
      const script = createVisitor(service.url)
      const asScript = { authorization: `Bearer ${remember(token)}` }
      expect((await script.request('GET', '/api/apps', undefined, asScript)).status).toBe(200)
      expect((await script.request('POST', '/api/keys', { name: 'no', network: 'testnet' }, asScript)).status).toBe(403)
      const { privateKey } = signer
      const pem = remember(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().split('\n')[1] ?? '')
      const sent = await ann.request('POST', `/api/apps/${app.id}/jwt-keys`, {
        pem: `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`,
      })
      expect([sent.status, sent.text]).toEqual([422, expect.not.stringContaining(pem)])
      expect(apiKey).toMatch(/^kr_a/)
    })

    test('for limits', async () => {
      const { app, urls } = await createApp()
      const { version } = await ann.get('GET /api/apps/{appId}', { params: { appId: app.id } })
      await ann.get('PATCH /api/apps/{appId}', {
        params: { appId: app.id },
        body: { version, limits: { perSecond: 1, burst: 2 } },
      })
      const several = await Promise.all(Array.from({ length: 6 }, () => getResult(urls['testnet'] ?? '')))
      expect(several).toContainEqual([429, 'rate_limited'])
      expect(several.filter(([status]) => status === 200).length).toBeGreaterThanOrEqual(2)

      const key = await createKey('quota')
      const results: string[] = []
      for (let each = 0; each < 45; each += 1) results.push((await getResult(key.url)).join(' '))
      // The quota is 40 calls a day for all keys of the account, so calls with other keys count too.
      expect(results.at(-1)).toBe('403 quota_exceeded')
      expect(results.filter((result) => result.startsWith('200')).length).toBeLessThanOrEqual(40)
      const usage = await ann.get('GET /api/usage')
      expect(usage.day).toMatchObject({ limit: 40, remaining: 0 })

      const bob = createVisitor(service.url)
      await bob.get('POST /api/account', { body: { email: 'bob@example.org', password } })
      const { url: address } = await bob.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
      remember(address.split('/').at(-1) ?? '')
      expect(await getResult(address)).toEqual([200, undefined])
      const operator = { authorization: `Bearer ${operatorToken}` }
      const users = (await bob.request('GET', '/api/admin/users?search=bob', undefined, operator)).json as {
        items: { id: string }[]
      }
      const disabled = await bob.request('POST', `/api/admin/users/${users.items[0]?.id}/disable`, {}, operator)
      expect(disabled.status).toBeLessThan(300)
      expect(await getResult(address)).toEqual([401, 'key_disabled'])
    })

    test('for nodes', async () => {
      const { urls } = await createApp()
      const { testnet, mainnet } = service.nodes
      testnet.behave = () => undefined
      expect(await getResult(urls['testnet'] ?? '', call('eth_getBlockReceipts', ['0x1']))).toEqual([
        504,
        'upstream_timeout',
      ])
      testnet.behave = () => '<html>'
      await expect.poll(() => getResult(urls['testnet'] ?? '', call('eth_gasPrice'))).toEqual([502, 'upstream_bad'])
      testnet.behave = ({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(1_100_000)}"}`
      await expect
        .poll(() => getResult(urls['testnet'] ?? '', call('eth_getLogs', [{}])))
        .toEqual([502, 'response_too_large'])
      await mainnet.stop()
      await expect.poll(() => getResult(urls['mainnet'] ?? '')).toEqual([503, 'no_upstream'])
      const ready = await fetch(`${service.url}/readyz`)
      expect([ready.status, await ready.json()]).toMatchObject([200, { networks: ['mainnet'] }])
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    })

    test('for unknown keys, without affecting other callers', async () => {
      const { urls } = await createApp()
      const unknownAddress = `${service.url}/testnet/v2/${remember(createApiKey('app'))}`
      const results = await Promise.all(Array.from({ length: 150 }, () => getResult(unknownAddress)))
      expect(results).toContainEqual([429, 'key_unknown_limited'])
      service.nodes.testnet.behave = ({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`
      await expect.poll(async () => (await getResult(urls['testnet'] ?? ''))[0]).toBe(200)
    })

    test('is in the log and the metrics, and no secret is in the output or the storage', async () => {
      const { port } = await service.process.logged('prometheus', ({ event }) => event === 'prometheusListening')
      const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
      const output = metrics + service.process.printed().stdout
      // Node cannot parse these requests, so they are not logged.
      const unlogged = new Set(['bad_http', 'headers_too_large', 'request_timeout'])
      expect([...seen].filter((reason) => !unlogged.has(reason) && !output.includes(reason))).toEqual([])

      // The config contains the URLs of the nodes. Before the stop, SQLite's log is searched too.
      const before = await readStored(service.place, ['keyrail.config.json'])
      const { stdout, stderr } = await service.process.stop()
      const stored = [...before, ...(await readStored(service.place, ['keyrail.config.json']))]
      const targets: [string, Buffer][] = [
        ['log', Buffer.from(stdout + stderr)],
        ['metrics', Buffer.from(metrics)],
        ...stored,
      ]
      expect(targets.length).toBeGreaterThan(2)
      const found = secrets.flatMap((secret, index) =>
        targets
          .filter(([, bytes]) => getEncodings(secret).some((encoding) => bytes.includes(encoding)))
          .map(([target]) => `secret ${index} (${secret.slice(0, 4)}…) in ${target}`),
      )
      expect(found).toEqual([])
      // Other text is found, so the search works.
      expect(stored.some(([, bytes]) => bytes.includes('ann@example.org'))).toBe(true)
      expect(secrets.length).toBeGreaterThan(25)
    })

    test('was caused, except for those that other tests cause', async () => {
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
        too_many_connections: true,
        no_upstream: true,
        upstream_busy: true,
        upstream_timeout: true,
        upstream_bad: true,
        response_too_large: true,
        chain_reorganized: true,
        nodes_disagree: true,
        draining: true,
      }
      const missing = Object.keys(all).filter(
        (reason) => !seen.has(reason) && !testedInOtherFiles.includes(reason as RejectionReason),
      )
      // The tests of stopping cause this one.
      expect(missing).toEqual(['draining'])
    })
  })
}
