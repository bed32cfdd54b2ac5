import { describe, expect, test } from 'vitest'
import type { ApiKeyView } from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { suiteDatabases } from '../storage/databases.ts'
import type { TestResponse, Login, StartedControl } from './startControl.ts'
import { createAppBody, expectBody, expectError, createFixture, password, signUp } from './accountFixture.ts'
import { useControl } from './useControl.ts'

const minute = 60_000

describe.each(suiteDatabases)('API keys on $name', (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  type Made = { key: ApiKeyView; apiKey: string; url: string }
  const create = (as: Login, body: object = { name: 'Key', network: 'testnet' }): Promise<TestResponse> =>
    control.call('POST /api/keys', { as, body: body as { name: string; network: 'testnet' } })
  const find = (key: string) => Promise.resolve(control.keys.find(hashApiKey(key)))
  const list = async (as: Login): Promise<ApiKeyView[]> =>
    expectBody<{ items: ApiKeyView[] }>(await control.call('GET /api/keys', { as })).items

  test('creation returns the key for one network, which is masked from then on', async () => {
    const { as } = await signUp(control)
    const created = expectBody<Made>(await create(as, { name: ' Ci ', network: 'mainnet', description: 'd' }), 201)
    expect(created.url).toBe(`${control.url}/mainnet/${created.apiKey}`)
    expect(created.apiKey).toMatch(/^kr_m/)
    expect(created.key).toMatchObject({
      name: 'Ci',
      network: 'mainnet',
      description: 'd',
      state: 'active',
      url: `${control.url}/mainnet/…${created.apiKey.slice(-4)}`,
      version: 1,
    })
    expect(await find(created.apiKey)).toMatchObject({ kind: 'apiKey', networks: ['mainnet'] })
    expect(await list(as)).toEqual([created.key])
  })

  test('a missing or unknown value names the field and the fix', async () => {
    const { as } = await signUp(control)
    expect(expectError(await create(as, {}), 422).fields).toEqual([
      { field: 'name', fix: 'is missing: send a string' },
      {
        field: 'network',
        fix: 'is missing: it must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"',
      },
    ])
    expect(expectError(await create(as, { name: 'x', network: 'Mainnet' }), 422).fields).toEqual([
      {
        field: 'network',
        fix: 'must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"',
      },
    ])
    expect(expectError(await control.call('POST /api/keys', { as }), 422).fields).toEqual([
      { field: '', fix: 'must be an object' },
    ])
  })

  test('ten concurrent requests create four keys, and a revoked key no longer counts', async () => {
    const { as } = await signUp(control)
    const created = await Promise.all(Array.from({ length: 10 }, () => create(as)))
    const good = created.filter(({ status }) => status === 201).map((response) => expectBody<Made>(response, 201))
    expect(good).toHaveLength(4)
    for (const response of created.filter(({ status }) => status !== 201))
      expect(expectError(response, 409).code).toBe('too_many')
    expect(await list(as)).toHaveLength(4)
    const [first] = good
    const params = { keyId: first?.key.id ?? '' }
    expect(await find(first?.apiKey ?? '')).toMatchObject({ status: 'active' })
    const revoked = await control.call('POST /api/keys/{keyId}/revoke', { as, params })
    expect(expectBody<ApiKeyView>(revoked)).toMatchObject({ state: 'revoked', revealable: false })
    expect(await find(first?.apiKey ?? '')).toMatchObject({ status: 'revoked' })
    expect(expectError(await control.call('POST /api/keys/{keyId}/revoke', { as, params }), 409).code).toBe('revoked')
    for (const name of ['rotate', 'reveal'] as const)
      expect(
        expectError(await control.call(`POST /api/keys/{keyId}/${name}`, { as, params, body: {} }), 409).code,
      ).toBe('revoked')
    const late = await control.call('PATCH /api/keys/{keyId}', { as, params, body: { version: 2, name: 'x' } })
    expect(expectError(late, 409).code).toBe('revoked')
    expect(expectBody<ApiKeyView>(await control.call('GET /api/keys/{keyId}', { as, params })).state).toBe('revoked')
    expect((await create(as)).status).toBe(201)
    expect((await create(as)).status).toBe(409)
  })

  test('an edit needs the current version', async () => {
    const { user, key, apiKey } = await createFixture(control)
    const { as } = user
    const params = { keyId: key.id }
    const edit = (body: { version: number; name?: string; expiresAt?: string | null }) =>
      control.call('PATCH /api/keys/{keyId}', { as, params, body })
    const ends = new Date(control.clock.now + minute).toISOString()
    const edited = expectBody<ApiKeyView>(await edit({ version: key.version, name: 'New', expiresAt: ends }))
    expect(edited).toMatchObject({ name: 'New', expiresAt: ends, version: key.version + 1 })
    expect(await find(apiKey)).toMatchObject({ expiresAt: control.clock.now + minute })
    expect(expectError(await edit({ version: key.version, name: 'Late' }), 409).code).toBe('version_conflict')
    expect((await edit({ version: edited.version, expiresAt: '2020-01-01T00:00:00Z' })).status).toBe(422)
    expect(expectBody<ApiKeyView>(await edit({ version: edited.version, expiresAt: null })).expiresAt).toBeNull()
  })

  test('and apps can ask for more confirmation, which the gateway and the audit log see, and not for one node', async () => {
    const { user, key, apiKey } = await createFixture(control)
    const { as } = user
    const params = { keyId: key.id }
    const wanted = { confirmNodes: 2, confirmHeader: true }
    expect(key).toMatchObject({ confirmNodes: 0, confirmHeader: false })
    const edit = (body: object) =>
      control.call('PATCH /api/keys/{keyId}', { as, params, body: body as { version: number } })
    for (const confirmNodes of [1, 11, -1, 2.5])
      expect(expectError(await edit({ version: key.version, confirmNodes }), 422).fields).toEqual([
        { field: 'confirmNodes', fix: 'must be 0, or a whole number from 2 to 10' },
      ])
    expect(expectBody<ApiKeyView>(await edit({ version: key.version, ...wanted }))).toMatchObject(wanted)
    expect(await find(apiKey)).toMatchObject({ confirm: wanted })
    const audit = await control.call('GET /api/audit-log', { as })
    expect(JSON.stringify(audit.body)).toContain('"confirmNodes":2')

    const made = await control.call('POST /api/apps', { as, body: createAppBody() })
    const created = expectBody<{ app: { id: string; version: number }; apiKey: string }>(made, 201)
    const changed = await control.call('PATCH /api/apps/{appId}', {
      as,
      params: { appId: created.app.id },
      body: { version: created.app.version, confirmNodes: 3 },
    })
    expect(changed.body).toMatchObject({ confirmNodes: 3, confirmHeader: false })
    expect(await find(created.apiKey)).toMatchObject({ confirm: { confirmNodes: 3, confirmHeader: false } })
  })

  test('are rotated with a grace period that can end early', async () => {
    const { user, key, apiKey } = await createFixture(control)
    const { as } = user
    const params = { keyId: key.id }
    const rotated = expectBody<Made>(
      await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: { graceDays: 1 } }),
    )
    expect(rotated.key).toMatchObject({ state: 'rotated', ending: rotated.apiKey.slice(-4) })
    expect([await find(apiKey), await find(rotated.apiKey)]).toMatchObject([{ status: 'active' }, { status: 'active' }])
    expect(expectBody<ApiKeyView>(await control.call('DELETE /api/keys/{keyId}/old', { as, params }))).toMatchObject({
      state: 'active',
      oldUntil: null,
    })
    expect(await find(apiKey)).toBeUndefined()
    const last = expectBody<Made>(await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: {} }))
    expect(last.key).toMatchObject({ state: 'active', oldUntil: null })
    expect(await find(rotated.apiKey)).toBeUndefined()
  })

  test("an app's key is not an API key", async () => {
    const { user, app } = await createFixture(control)
    const { as } = user
    const params = { keyId: app.key.id }
    expect((await control.call('GET /api/keys/{keyId}', { as, params })).status).toBe(404)
    expect((await control.call('POST /api/keys/{keyId}/revoke', { as, params })).status).toBe(404)
    expect((await control.call('POST /api/keys/{keyId}/reveal', { as, params, body: {} })).status).toBe(404)
    expect((await control.call('GET /api/keys/{keyId}/metrics', { as, params })).status).toBe(404)
  })

  describe('are revealed', () => {
    test('in the first 15 minutes of a session, later with the password; each reveal is logged', async () => {
      const { user, key, apiKey, app, appKey } = await createFixture(control)
      const { as } = user
      const params = { keyId: key.id }
      const reveal = (body: { password?: string }) =>
        control.call('POST /api/keys/{keyId}/reveal', { as, params, body })
      expect(expectBody(await reveal({}))).toEqual({ apiKey, url: `${control.url}/testnet/${apiKey}` })
      control.clock.now += 15 * minute
      expect(expectError(await reveal({}), 403).code).toBe('confirm_required')
      expect(expectError(await reveal({ password: 'not this one' }), 403).code).toBe('wrong_password')
      expect(expectBody(await reveal({ password }))).toEqual({ apiKey, url: `${control.url}/testnet/${apiKey}` })
      const revealOfApp = (body: { password?: string }) =>
        control.call('POST /api/apps/{appId}/key/reveal', { as, params: { appId: app.id }, body })
      expect(expectError(await revealOfApp({}), 403).code).toBe('confirm_required')
      const ofApp = await revealOfApp({ password })
      expect(expectBody(ofApp)).toEqual({
        apiKey: appKey,
        urls: {
          testnet: `${control.url}/testnet/v2/${appKey}`,
          mainnet: `${control.url}/mainnet/v2/${appKey}`,
        },
      })
      const log = await control.storage.auditLog.list({ userId: user.id, limit: 100 })
      expect(log.filter(({ action }) => action === 'key.reveal').map(({ subject }) => subject)).toEqual([
        app.key.id,
        key.id,
        key.id,
      ])
    })

    test('unless no copy is stored or the server secret is missing', async () => {
      const { as } = await signUp(control)
      const params = { keyId: expectBody<Made>(await create(as), 201).key.id }
      const reveal = () => control.call('POST /api/keys/{keyId}/reveal', { as, params, body: {} })
      control.config.reveal = false
      const unsealed = expectBody<Made>(await create(as), 201)
      expect(unsealed.key.revealable).toBe(false)
      expect(await control.storage.keys.findSealed({ id: unsealed.key.id, userId: unsealed.key.id })).toBeUndefined()
      expect(expectError(await reveal(), 409).code).toBe('not_revealable')
      control.config.reveal = true
      expect((await reveal()).status).toBe(200)
      const secrets = control.secrets.splice(0, 1, createServerSecret('y'.repeat(40), { version: 2 }))
      expect(expectError(await reveal(), 409).code).toBe('not_revealable')
      const rotated = expectBody<Made>(await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: {} }))
      expect(expectBody<{ apiKey: string }>(await reveal()).apiKey).toBe(rotated.apiKey)
      control.secrets.splice(0, 1, ...secrets)
    })
  })
})
