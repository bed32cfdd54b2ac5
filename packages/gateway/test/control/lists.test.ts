import { generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import type { AllowEntryView, AppView, JwtKeyView, JwtTestView } from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { suiteDatabases } from '../storage/databases.ts'
import type { TestResponse, Login, StartedControl } from './startControl.ts'
import { createAppBody, expectBody, expectError, newPem, signUp } from './accountFixture.ts'
import { useControl } from './useControl.ts'

describe.each(suiteDatabases)("an app's lists on $name", (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  const newApp = async (): Promise<{ as: Login; app: AppView; apiKey: string; params: { appId: string } }> => {
    const { as } = await signUp(control)
    const { app, apiKey } = expectBody<{ app: AppView; apiKey: string }>(
      await control.call('POST /api/apps', { as, body: createAppBody() }),
      201,
    )
    return { as, app, apiKey, params: { appId: app.id } }
  }
  const find = (key: string) => Promise.resolve(control.keys.find(hashApiKey(key)))

  describe('allow lists', () => {
    test('store normalized entries, each once, and apply to requests immediately', async () => {
      const { as, params, apiKey } = await newApp()
      const add = (type: AllowEntryView['type'], value: string, label = '') => {
        control.clock.now += 1
        return control.call('POST /api/apps/{appId}/allow-list', { as, params, body: { type, value, label } })
      }
      const ip = { ip: '198.51.100.1', origin: undefined, userAgent: undefined }
      expect((await find(apiKey))?.allow?.rejectRequest(ip)).toBeUndefined()
      for (const [type, given, normalized] of [
        ['origin', ' HTTPS://App.Example.com:443 ', 'https://app.example.com'],
        ['origin', '*.Bücher.example', '*.xn--bcher-kva.example'],
        ['origin', 'localhost:3000', 'localhost:3000'],
        ['ip', '203.0.113.0/24', '203.0.113.0/24'],
        ['ip', '2001:DB8:0:0::1', '2001:db8::1'],
        ['ip', '::ffff:192.0.2.1', '192.0.2.1'],
        ['method', 'eth_*', 'eth_*'],
        ['address', `0x${'Ab'.repeat(20)}`, `0x${'ab'.repeat(20)}`],
        ['userAgent', 'MyWallet/2', 'mywallet/2'],
      ] as const)
        expect(expectBody(await add(type, given, '🧪 <b>'), 201)).toMatchObject({
          type,
          value: normalized,
          label: '🧪 <b>',
        })
      expect((await find(apiKey))?.allow?.rejectRequest(ip)?.reason).toBe('ip_not_allowed')
      for (const [type, again] of [
        ['origin', 'https://APP.example.com'],
        ['ip', '2001:db8::1/128'],
        ['address', `0x${'aB'.repeat(20)}`],
      ] as const)
        expect(expectError(await add(type, again), 409).code).toBe('already_exists')
      for (const [type, bad] of [
        ['origin', '*'],
        ['origin', 'https://a.example/path'],
        ['ip', '10.0.0.300'],
        ['method', '*'],
        ['address', '0x1'],
        ['userAgent', 'ü'],
      ] as const) {
        const [problem] = expectError(await add(type, bad), 422).fields ?? []
        expect(problem?.field).toBe('value')
        expect(problem?.fix).not.toContain(bad === '*' ? "'*'" : bad)
      }
      const of = await control.call('GET /api/apps/{appId}/allow-list', { as, params, query: { type: 'ip' } })
      expect(expectBody<{ items: AllowEntryView[]; maxPerType: number }>(of)).toMatchObject({
        items: [{ value: '203.0.113.0/24' }, { value: '2001:db8::1' }, { value: '192.0.2.1' }],
        maxPerType: 30,
      })
    })

    test('have at most 30 entries of a type, which can be relabelled and removed', async () => {
      const { as, params, apiKey } = await newApp()
      const add = (value: string) => {
        control.clock.now += 1
        return control.call('POST /api/apps/{appId}/allow-list', { as, params, body: { type: 'ip', value } })
      }
      for (let index = 0; index < 30; index += 1) expect((await add(`10.0.0.${index}`)).status).toBe(201)
      expect(expectError(await add('10.0.0.31'), 409).code).toBe('too_many')
      const { items } = expectBody<{ items: AllowEntryView[] }>(
        await control.call('GET /api/apps/{appId}/allow-list', { as, params, query: {} }),
      )
      const of = { ...params, entryId: items[0]?.id ?? '' }
      const edited = await control.call('PATCH /api/apps/{appId}/allow-list/{entryId}', {
        as,
        params: of,
        body: { label: 'office' },
      })
      expect(expectBody<AllowEntryView>(edited)).toEqual({ ...items[0], label: 'office' })
      expect(
        (await find(apiKey))?.allow?.rejectRequest({ ip: '10.0.0.0', origin: undefined, userAgent: undefined }),
      ).toBe(undefined)
      const remove = () => control.call('DELETE /api/apps/{appId}/allow-list/{entryId}', { as, params: of })
      expect((await remove()).status).toBe(204)
      expect((await remove()).status).toBe(404)
      expect(
        (await find(apiKey))?.allow?.rejectRequest({ ip: '10.0.0.0', origin: undefined, userAgent: undefined })?.reason,
      ).toBe('ip_not_allowed')
    })
  })

  describe('JWT keys', () => {
    const importKey = (as: Login, params: { appId: string }, pem: string) =>
      control.call('POST /api/apps/{appId}/jwt-keys', { as, params, body: { pem, label: 'ci' } })

    test('accept up to three public keys, each once, and show their fingerprint', async () => {
      const { as, params, apiKey } = await newApp()
      const { publicPem } = newPem()
      const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const first = expectBody<JwtKeyView>(await importKey(as, params, `\n${publicPem}\n`), 201)
      expect(first).toMatchObject({ algorithms: ['ES256'], publicPem, label: 'ci' })
      expect(first.kid).toMatch(/^[\w-]{22}$/)
      expect(expectError(await importKey(as, params, publicPem), 409).code).toBe('already_exists')
      const second = await importKey(as, params, rsa.export({ type: 'spki', format: 'pem' }).toString())
      expect(expectBody<JwtKeyView>(second, 201).algorithms).toEqual(['RS256', 'RS384', 'RS512'])
      expect((await importKey(as, params, newPem().publicPem)).status).toBe(201)
      expect(expectError(await importKey(as, params, newPem().publicPem), 409).code).toBe('too_many')
      const shown = await control.call('GET /api/apps/{appId}/jwt-keys', { as, params })
      expect(expectBody<{ items: JwtKeyView[] }>(shown).items).toHaveLength(3)
      expect((await find(apiKey))?.jwt?.policy.keys.size).toBe(3)
    })

    test('reject a private key without storing, repeating or logging it', async () => {
      const { as, params } = await newApp()
      const { privatePem } = newPem()
      const rejected = await importKey(as, params, privatePem)
      expect(expectError(rejected, 422).fields).toEqual([
        { field: 'pem', fix: expect.stringMatching(/private key and was not stored/) },
      ])
      const lines = privatePem.split('\n').filter((line) => line !== '' && !line.startsWith('---'))
      const output =
        rejected.text +
        JSON.stringify(control.logs) +
        JSON.stringify(await control.storage.auditLog.list({ limit: 500 }))
      for (const line of lines) expect(output).not.toContain(line)
      const shown = await control.call('GET /api/apps/{appId}/jwt-keys', { as, params })
      expect(expectBody<{ items: JwtKeyView[] }>(shown).items).toEqual([])
      for (const pem of ['x', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'])
        expect((await importKey(as, params, pem)).status).toBe(422)
    })

    test('can be required only if there is one, and then the last one cannot be removed', async () => {
      const { as, params, app, apiKey } = await newApp()
      const require = async (on: boolean): Promise<TestResponse> => {
        const { version } = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
        return control.call('PATCH /api/apps/{appId}', { as, params, body: { version, requireJwt: on } })
      }
      expect(expectError(await require(true), 422).fields?.[0]?.field).toBe('requireJwt')
      const { kid } = expectBody<JwtKeyView>(await importKey(as, params, newPem().publicPem), 201)
      expect(expectBody<AppView>(await require(true))).toMatchObject({ requireJwt: true, id: app.id })
      expect((await find(apiKey))?.jwt).toMatchObject({ required: true })
      const remove = () => control.call('DELETE /api/apps/{appId}/jwt-keys/{kid}', { as, params: { ...params, kid } })
      expect(expectError(await remove(), 409).code).toBe('in_use')
      expect((await require(false)).status).toBe(200)
      expect((await remove()).status).toBe(204)
      expect((await remove()).status).toBe(404)
    })

    test("JWTs must match the app's audience and lifetime, which apply to requests immediately", async () => {
      const { as, params, apiKey } = await newApp()
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const { kid } = expectBody<JwtKeyView>(await importKey(as, params, pem), 201)
      const nowS = Math.floor(control.clock.now / 1_000)
      const token = (claims: Record<string, unknown>) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey)
      const check = async (text: string): Promise<string> => {
        const found = expectBody<JwtTestView>(
          await control.call('POST /api/apps/{appId}/jwt-keys/test', { as, params, body: { token: text } }),
        )
        return found.ok ? 'ok' : found.check
      }
      const edit = async (jwt: object): Promise<TestResponse> => {
        const { version } = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
        return control.call('PATCH /api/apps/{appId}', { as, params, body: { version, jwt } })
      }
      const long = await token({ exp: nowS + 90_000, aud: ['other', 'shop'] })
      expect(await check(long)).toBe('lifetime')
      expect((await find(apiKey))?.jwt?.policy).toMatchObject({ maxLifetimeS: 86_400 })
      const edited = expectBody<AppView>(await edit({ audience: ' shop ', maxLifetimeS: 100_000 }))
      expect(edited.jwt).toEqual({ audience: 'shop', maxLifetimeS: 100_000 })
      expect((await find(apiKey))?.jwt?.policy).toMatchObject({ maxLifetimeS: 100_000, audience: 'shop' })
      expect(await check(long)).toBe('ok')
      expect(await check(await token({ exp: nowS + 60, aud: 'other' }))).toBe('audience')
      expect(expectBody<AppView>(await edit({ audience: null })).jwt).toEqual({ audience: null, maxLifetimeS: 100_000 })
      expect(expectBody<AppView>(await edit({ maxLifetimeS: null })).jwt).toEqual({
        audience: null,
        maxLifetimeS: 86_400,
      })
      expect(await check(await token({ exp: nowS + 60 }))).toBe('ok')
      const wrong = await edit({ audience: '', maxLifetimeS: 0, kid: 'x' })
      expect(expectError(wrong, 422).fields?.map(({ field }) => field)).toEqual([
        'jwt.audience',
        'jwt.maxLifetimeS',
        'jwt.kid',
      ])
    })

    test('test a JWT and report the failed check', async () => {
      const { as, params } = await newApp()
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const { kid } = expectBody<JwtKeyView>(await importKey(as, params, pem), 201)
      const nowS = Math.floor(control.clock.now / 1_000)
      const token = (claims: Record<string, unknown>, header: Record<string, unknown> = { kid }) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(privateKey)
      const check = async (text: string): Promise<JwtTestView> =>
        expectBody(await control.call('POST /api/apps/{appId}/jwt-keys/test', { as, params, body: { token: text } }))
      const good = await token({ exp: nowS + 60 })
      expect(await check(` ${good}\n`)).toEqual({
        ok: true,
        kid,
        expiresAt: new Date((nowS + 60) * 1_000).toISOString(),
        narrows: false,
      })
      expect(await check(await token({ exp: nowS + 60, methods: ['eth_call'] }))).toMatchObject({ narrows: true })
      for (const [text, expected] of [
        ['a.b.c', 'malformed'],
        [await token({ exp: nowS + 60 }, {}), 'kid'],
        [await token({ exp: nowS + 60 }, { kid: 'x' }), 'kid'],
        [await token({ exp: nowS + 60 }, { kid, jku: 'https://evil.example' }), 'header'],
        [await token({ exp: nowS - 60 }), 'expiry'],
        [await token({}), 'expiry'],
        [await token({ exp: nowS + 90_000 }), 'lifetime'],
        [await token({ exp: nowS + 60, nbf: nowS + 50 }), 'not_before'],
        [`${good.slice(0, -6)}AAAAAA`, 'signature'],
        [await token({ exp: nowS + 60, methods: 'x' }), 'claims'],
      ] as const) {
        const found = await check(text)
        expect(found).toMatchObject({ ok: false, check: expected })
        expect(JSON.stringify(found)).not.toContain(text)
      }
    })
  })
})
