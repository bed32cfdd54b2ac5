import { describe, expect, test } from 'vitest'
import { compileJwtPolicy } from '../../src/auth/jwt/jwtPolicy.ts'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { KeyRecord } from '../../src/auth/key/keyStore.ts'
import { createMemoryKeyStore } from '../createMemoryKeyStore.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { createSigner, signToken } from './signToken.ts'
import type { TokenSigner } from './signToken.ts'
import { batch, call, noon, summarize, openTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const signer = createSigner('kid-one')
const forger = createSigner('kid-one')
const other = createSigner('kid-other')
const read = call('eth_gasPrice')
const exp = noon / 1000 + 600
const validToken = signToken(signer, { exp })
const jwt = (required: boolean, { kid, pem }: TokenSigner = signer): Pick<KeyRecord, 'jwt'> => ({
  jwt: { policy: compileJwtPolicy({ keys: [{ kid, pem }] }), required },
})
const bearer = (token: string): RequestInit => ({
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
})
const getCheck = (text: string): unknown =>
  (JSON.parse(text) as { error?: { data?: { check?: unknown } } }).error?.data?.check

describe('a token with the key', () => {
  test('is required if the app requires it, and must be valid if it is sent', async () => {
    const { addApp } = await openTenants()
    const required = addApp(jwt(true))
    const optional = addApp(jwt(false))
    expect(summarize(await post(required.path, read, bearer(validToken)))).toEqual([200, '0x1'])
    const missing = await post(required.path, read)
    expect([summarize(missing), getCheck(missing.text), missing.headers.get('www-authenticate')]).toEqual([
      [401, 'jwt_invalid'],
      'missing',
      'Bearer',
    ])
    expect(summarize(await post(optional.path, read))).toEqual([200, '0x1'])
    for (const [token, check] of [
      [signToken(signer, { exp: exp - 600 }), 'expiry'],
      [signToken(forger, { exp }), 'signature'],
      [signToken(other, { exp }), 'kid'],
      ['not-a-token', 'malformed'],
      [signToken(signer, { exp }, { alg: 'none', kid: 'kid-one' }), 'algorithm'],
    ] as const)
      for (const { path } of [required, optional]) {
        const bad = await post(path, read, bearer(token))
        expect([summarize(bad), getCheck(bad.text), bad.headers.get('www-authenticate')]).toEqual([
          [401, 'jwt_invalid'],
          check,
          'Bearer error="invalid_token"',
        ])
        expect(bad.text).not.toContain(token)
      }
  })

  test('is ignored if the app has no JWT keys, and so is another scheme', async () => {
    const { addApp, addApiKey } = await openTenants()
    for (const { path } of [addApp(), addApiKey()])
      expect(summarize(await post(path, read, bearer('not-a-token')))).toEqual([200, '0x1'])
    const basic = { headers: { 'content-type': 'application/json', authorization: 'Basic eDp5' } }
    expect(summarize(await post(addApp(jwt(false)).path, read, basic))).toEqual([200, '0x1'])
  })

  test('is rejected once it expires, even if it was valid before', async () => {
    const { addApp, clock } = await openTenants()
    const { path } = addApp(jwt(true))
    expect(summarize(await post(path, read, bearer(validToken)))).toEqual([200, '0x1'])
    clock.now = exp * 1000
    expect(summarize(await post(path, read, bearer(validToken)))).toEqual([401, 'jwt_invalid'])
  })

  test('narrows the allow list of the app for requests and calls, and cannot widen it', async () => {
    const { addApp } = await openTenants()
    const { path } = addApp({
      ...jwt(true),
      allow: compileAllowList({ methods: [{ value: 'eth_gasPrice' }, { value: 'eth_blockNumber' }] }),
    })
    const narrow = signToken(signer, { exp, methods: ['eth_gasPrice', 'eth_call'] })
    expect(summarize(await post(path, batch('eth_gasPrice', 'eth_blockNumber', 'eth_call'), bearer(narrow)))).toEqual([
      200,
      '0x1',
      'method_not_allowed',
      'method_not_allowed',
    ])
    expect(summarize(await post(path, call('eth_blockNumber'), bearer(narrow)))).toEqual([403, 'method_not_allowed'])
    const fromPage = signToken(signer, { exp, origins: ['https://app.example'] })
    expect(summarize(await post(path, read, bearer(fromPage)))).toEqual([403, 'origin_not_allowed'])
    const page = {
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${fromPage}`,
        origin: 'https://app.example',
      },
    }
    expect(summarize(await post(path, read, page))).toEqual([200, '0x1'])
    const invalid = signToken(signer, { exp, methods: 'eth_gasPrice' })
    expect(summarize(await post(path, read, bearer(invalid)))).toEqual([401, 'jwt_invalid'])
    for (const name of ['Methods', 'methodſ', 'ADDRESSES', 'Origins']) {
      const misspelt = await post(path, read, bearer(signToken(signer, { exp, [name]: ['eth_call'] })))
      expect(summarize(misspelt)).toEqual([401, 'jwt_invalid'])
      expect(misspelt.text).toContain('must be in lower case')
    }
  })

  test('is not verified after too many bad signatures for that app and IP, but cached results remain valid', async () => {
    const { addApp, addApiKey, url } = await openTenants({
      unknownKeys: { perSecond: 1, burst: 3 },
      trustedProxies: ['127.0.0.1'],
    })
    const app = addApp(jwt(false))
    const neighbour = addApp(jwt(false, other))
    const from = (token: string, ip: string): RequestInit => ({
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-forwarded-for': ip },
    })
    const send = async (token: string, ip = '203.0.113.1', path = app.path): Promise<unknown> => {
      return summarize(await post(path, read, from(token, ip)))
    }
    const forged = (): string => signToken(forger, { exp, jti: Math.random() })
    const cached = forged()
    expect(await send(validToken)).toEqual([200, '0x1'])
    for (let time = 0; time < 5; time += 1) expect(await send(cached)).toEqual([401, 'jwt_invalid'])
    const forge = async (at: string): Promise<unknown> => {
      const response = await post(at, read, from(forged(), '203.0.113.1'))
      return [summarize(response), response.headers.has('x-chain-id'), response.headers.has('retry-after')]
    }
    // On a slow machine the limit refills in the meantime.
    await expect.poll(() => forge(app.path), { interval: 1 }).toEqual([[429, 'key_unknown_limited'], true, true])
    // The same limit applies if only the kid identifies the app, and the response discloses nothing of the app.
    await expect
      .poll(() => forge(`${url}/testnet/v2`), { interval: 1 })
      .toEqual([[429, 'key_unknown_limited'], false, true])
    const fresh = signToken(signer, { exp, jti: 'new' })
    expect(await send(validToken)).toEqual([200, '0x1'])
    expect(await send(cached)).toEqual([401, 'jwt_invalid'])
    expect(await send(fresh, '203.0.113.2')).toEqual([200, '0x1'])
    expect(await send(signToken(other, { exp }), '203.0.113.1', neighbour.path)).toEqual([200, '0x1'])
    expect(await send('x', '203.0.113.1', addApiKey().path)).toEqual([200, '0x1'])
  })

  test('sent twice is rejected, even if one is valid', async () => {
    const { addApp, port } = await openTenants()
    const { path } = addApp(jwt(false))
    for (const pair of [
      [validToken, 'x'],
      ['x', validToken],
    ]) {
      const connection = await openRaw(port)
      const headers = pair.map((token) => `Authorization: Bearer ${token}\r\n`).join('')
      connection.send(
        `POST ${new URL(path).pathname} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${read.length}\r\n\r\n${read}`,
      )
      const { status, body } = await connection.next()
      expect([status, getCheck(body)]).toEqual([401, 'malformed'])
      connection.destroy()
    }
  })
})

describe('a token without a key, at /{network}/v2', () => {
  const startAlone = async (record: Partial<KeyRecord> = {}): Promise<StartedTenants & { alone: string }> => {
    const started = await openTenants({ unknownKeys: { perSecond: 1, burst: 1_000 } })
    started.addApp({ id: 'key_j', appId: 'app_j', ...jwt(false), ...record })
    return { ...started, alone: `${started.url}/testnet/v2` }
  }

  test('identifies its app on each of its networks', async () => {
    const { alone, meter } = await startAlone({ networks: ['testnet'] })
    const response = await post(alone, read, bearer(validToken))
    expect([summarize(response), response.headers.get('x-chain-id')]).toEqual([[200, '0x1'], '31337'])
    expect(summarize(await post(alone.replace('testnet', 'mainnet'), read, bearer(validToken)))).toEqual([
      403,
      'wrong_network',
    ])
    expect(meter.counted).toEqual(['key_j testnet eth_gasPrice succeeded', 'key_j mainnet other wrong_network'])
  })

  test('is rejected with the failed check if it is invalid, and a missing one as an unknown key', async () => {
    const { alone } = await startAlone()
    for (const [token, check] of [
      [signToken(other, { exp }), 'kid'],
      [signToken(signer, { exp }, { alg: 'EdDSA' }), 'kid'],
      [signToken(forger, { exp }), 'signature'],
      ['not-a-token', 'malformed'],
      ['', 'malformed'],
      [signToken(signer, { exp: exp - 600 }), 'expiry'],
    ] as const) {
      const bad = await post(alone, read, bearer(token))
      expect([summarize(bad), getCheck(bad.text)]).toEqual([[401, 'jwt_invalid'], check])
    }
    expect(summarize(await post(alone, read))).toEqual([401, 'key_unknown'])
    expect(summarize(await post(`${alone}/`, read, bearer(validToken)))).toEqual([401, 'key_unknown'])
  })

  test('discloses nothing of the app and is not metered before its signature is verified', async () => {
    const { alone, meter, entries } = await startAlone({ status: 'disabled' })
    const forged = await post(alone, read, bearer(signToken(forger, { exp })))
    expect([summarize(forged), forged.headers.get('x-chain-id')]).toEqual([[401, 'jwt_invalid'], null])
    expect([meter.counted, entries.some((entry) => 'keyId' in entry && entry.keyId !== undefined)]).toEqual([[], false])
    expect(summarize(await post(alone, read, bearer(validToken)))).toEqual([401, 'key_disabled'])
    expect(meter.counted).toEqual(['key_j testnet other key_disabled'])
  })

  test('must pass the allow list of its app and its own', async () => {
    const { alone } = await startAlone({ allow: compileAllowList({ ips: [{ value: '203.0.113.7' }] }) })
    expect(summarize(await post(alone, read, bearer(validToken)))).toEqual([403, 'ip_not_allowed'])
    const own = await startAlone({ services: [] })
    expect(summarize(await post(own.alone, read, bearer(validToken)))).toEqual([403, 'service_off'])
    const narrowed = signToken(signer, { exp, methods: ['eth_call'] })
    const open = await startAlone()
    expect(summarize(await post(open.alone, read, bearer(narrowed)))).toEqual([403, 'method_not_allowed'])
  })

  test('uses the limit of unknown keys if its kid is unknown, but not if it has expired', async () => {
    const { url, addApp } = await openTenants({ unknownKeys: { perSecond: 1, burst: 2 } })
    addApp(jwt(false))
    const alone = `${url}/testnet/v2`
    const expired = signToken(signer, { exp: exp - 600 })
    for (let time = 0; time < 4; time += 1)
      expect(summarize(await post(alone, read, bearer(expired)))).toEqual([401, 'jwt_invalid'])
    const unknown = bearer(signToken(other, { exp }))
    for (let time = 0; time < 2; time += 1)
      expect(summarize(await post(alone, read, unknown))).toEqual([401, 'jwt_invalid'])
    expect(summarize(await post(alone, read, unknown))).toEqual([429, 'key_unknown_limited'])
    expect(summarize(await post(alone, read, bearer(validToken)))).toEqual([200, '0x1'])
  })

  test('gets 503 if the lookup fails', async () => {
    const keys = { ...createMemoryKeyStore(), findByKid: () => Promise.reject(new Error('unreachable')) }
    const unavailable = await openTenants({ keys })
    expect(summarize(await post(`${unavailable.url}/testnet/v2`, read, bearer(validToken)))).toEqual([
      503,
      'key_store_unavailable',
    ])
    expect(unavailable.entries).toContainEqual(expect.objectContaining({ event: 'fault', where: 'keyStore' }))
  })
})

test('a preflight and a body in two parts work with a token without a key', async () => {
  const { port, addApp } = await openTenants()
  addApp(jwt(false))
  const connection = await openRaw(port)
  connection.send('OPTIONS /testnet/v2 HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Headers: authorization\r\n\r\n')
  expect((await connection.next()).headers['access-control-allow-headers']).toBe('authorization')
  const bytes = postBytes('/testnet/v2', read, { Authorization: `Bearer ${validToken}` })
  connection.send(bytes.subarray(0, -9))
  connection.send(bytes.subarray(-9))
  expect((await connection.next()).status).toBe(200)
  connection.destroy()
})
