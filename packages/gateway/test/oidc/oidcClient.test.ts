import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOidcClient } from '../../src/oidc/createOidcClient.ts'
import type { OidcConfig, OidcEvent, OidcFlow } from '../../src/oidc/oidcClient.ts'
import { startOidcProvider } from './startOidcProvider.ts'
import type { OidcProvider } from './startOidcProvider.ts'

const redirectUri = 'https://rpc.example.org/log-in/single-sign-on'
const flow: OidcFlow = { state: 's'.repeat(43), nonce: 'n'.repeat(43), codeVerifier: 'v'.repeat(43), redirectUri }

describe('the OpenID Connect client', () => {
  let provider: OidcProvider
  let events: OidcEvent[]
  beforeAll(async () => {
    provider = await startOidcProvider({ redirectUri })
  })
  afterAll(() => provider.close())
  beforeEach(() => {
    events = []
    Object.assign(provider, { fault: undefined, declines: false })
    provider.user = { sub: 'ann', email: 'ann@example.org', email_verified: true }
  })
  const create = (config: OidcConfig = provider.config, timeoutMs = 30_000) =>
    createOidcClient({ config: () => config, onEvent: (event) => events.push(event), timeoutMs })
  const visit = async (client = create(), at = provider) => {
    const url = await client.start(flow)
    if (typeof url === 'string') throw new Error(`start: ${url}`)
    return (await at.visit(url.href)).search
  }

  test.each([
    { claimsInIdToken: true, authMethod: 'client_secret_basic' },
    { claimsInIdToken: false, authMethod: 'client_secret_post' },
  ] as const)('reads the identity with %o', async (options) => {
    const other = await startOidcProvider({ redirectUri, ...options })
    other.user = provider.user
    const client = create(other.config)
    expect(await client.finish(flow, await visit(client, other))).toEqual({
      issuer: other.issuer,
      subject: 'ann',
      email: 'ann@example.org',
      isEmailVerified: true,
      groups: [],
    })
    expect(other.requests.includes('/me')).toBe(!options.claimsInIdToken)
    await other.close()
  })

  test.each([
    { id_token: 'groups', userinfo: 'email' },
    { id_token: 'email', userinfo: 'groups' },
  ])('reads the email address and the groups where each of them is: %o are missing', async (missing) => {
    const other = await startOidcProvider({ redirectUri, claimsInIdToken: true })
    Object.assign(other, { user: { ...provider.user, groups: ['ops'] }, missing })
    const client = create({ ...other.config, groups: [{ group: 'ops', account: 'acc_1', role: 'viewer' }] })
    expect(await client.finish(flow, await visit(client, other))).toMatchObject({
      email: 'ann@example.org',
      isEmailVerified: true,
      groups: ['ops'],
    })
    await other.close()
  })

  test('requests the metadata once for concurrent log-ins, and again after it failed', async () => {
    const client = create()
    const before = provider.requests.length
    provider.fault = { at: '/.well-known/', status: 500 }
    expect(await client.start(flow)).toBe('unavailable')
    provider.fault = undefined
    await Promise.all([client.start(flow), client.start(flow), client.start(flow)])
    expect(provider.requests.slice(before)).toEqual(Array(2).fill('/.well-known/openid-configuration'))
    expect(events).toEqual([
      { event: 'oidc', step: 'start', state: 'unavailable', reason: 'OAUTH_RESPONSE_IS_NOT_CONFORM HTTP 500' },
    ])
  })

  test.each(['/.well-known/', '/token', '/jwks', '/me'])('a provider that hangs at %s is given up', async (at) => {
    const search = await visit()
    const client = create(provider.config, 300)
    provider.fault = { at }
    expect(await client.finish(flow, search)).toBe('unavailable')
    expect(events).toMatchObject([{ state: 'unavailable' }])
  })

  test('a provider that is down is reported with the code of the connection', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const client = create({ ...provider.config, issuer: `http://127.0.0.1:${port}` })
    expect(await client.start(flow)).toBe('unavailable')
    expect(events).toMatchObject([{ state: 'unavailable', reason: 'ECONNREFUSED' }])
  })

  test('a declined log-in is not a fault', async () => {
    const client = create()
    provider.declines = true
    expect(await client.finish(flow, await visit(client))).toBe('denied')
    expect(events).toMatchObject([{ state: 'denied', reason: 'access_denied OAUTH_AUTHORIZATION_RESPONSE_ERROR' }])
  })

  test.each<[string, Partial<OidcConfig>, Partial<OidcFlow>]>([
    ['a wrong client secret', { clientSecret: 'wrong' }, {}],
    ['another state', {}, { state: 'x'.repeat(43) }],
    ['another nonce', {}, { nonce: 'x'.repeat(43) }],
    ['another code verifier', {}, { codeVerifier: 'x'.repeat(43) }],
    ['another redirect URI', {}, { redirectUri: 'https://rpc.example.org/log-in/single-sign-on/' }],
  ])('%s is rejected, and the log has no secret', async (_, config, changed) => {
    const search = await visit()
    expect(await create({ ...provider.config, ...config }).finish({ ...flow, ...changed }, search)).toBe('failed')
    const [event] = events
    expect(event?.reason).toMatch(/^[A-Za-z_]+(?: [A-Z_]+)*(?: HTTP \d+)?$/)
    const code = new URLSearchParams(search).get('code') ?? ''
    for (const secret of [code, provider.config.clientSecret]) expect(JSON.stringify(events)).not.toContain(secret)
  })

  test('the provider accepts only the exact redirect URI', async () => {
    const url = await create().start({ ...flow, redirectUri: 'https://evil.example/log-in/single-sign-on' })
    if (typeof url === 'string') throw new Error(url)
    await expect(provider.visit(url.href)).rejects.toThrow('the provider responded with 400')
  })

  test.each<[string, (issuer: string) => object]>([
    ['too large', (issuer) => ({ issuer, more: 'x'.repeat(2 * 1024 * 1024) })],
    ['of another issuer', () => ({ issuer: provider.issuer })],
    ['with a script in place of a page', (issuer) => ({ issuer, authorization_endpoint: 'javascript:alert(1)' })],
  ])('metadata that is %s is rejected', async (_, getMetadata) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(getMetadata(issuer)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await create({ ...provider.config, issuer }).start(flow)).toBe('failed')
    server.closeAllConnections()
    server.close()
  })
})
