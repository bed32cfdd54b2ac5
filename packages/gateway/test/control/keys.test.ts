import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiKeyView } from '../../src/control/contract/apiKey.ts'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { databases } from '../storage/databases.ts'
import { startControl } from './startControl.ts'
import type { Answered, Login, StartedControl } from './startControl.ts'
import { bodyOf, createWorld, password, signUp } from './world.ts'

const minute = 60_000

describe.each(databases)('API keys on $name', (database) => {
  let control: StartedControl
  beforeAll(async () => {
    control = await startControl(database)
  })
  afterAll(async () => {
    await control.close()
    await database.stop()
  })

  type Made = { key: ApiKeyView; apiKey: string; address: string }
  const create = (as: Login, body: object = { name: 'Key', network: 'testnet' }): Promise<Answered> =>
    control.call('POST /api/keys', { as, body: body as { name: string; network: 'testnet' } })
  const errorOf = (answered: Answered, status: number): ApiErrorView['error'] =>
    bodyOf<ApiErrorView>(answered, status).error
  const find = (key: string) => Promise.resolve(control.keys.find(hashApiKey(key)))
  const list = async (as: Login): Promise<ApiKeyView[]> =>
    bodyOf<{ items: ApiKeyView[] }>(await control.call('GET /api/keys', { as })).items

  test('one is made for one network, and masked from then on', async () => {
    const { as } = await signUp(control)
    const made = bodyOf<Made>(await create(as, { name: ' Ci ', network: 'mainnet', description: 'd' }), 201)
    expect(made.address).toBe(`${control.url}/mainnet/${made.apiKey}`)
    expect(made.apiKey).toMatch(/^kr_m/)
    expect(made.key).toMatchObject({
      name: 'Ci',
      network: 'mainnet',
      description: 'd',
      state: 'active',
      address: `${control.url}/mainnet/…${made.apiKey.slice(-4)}`,
      version: 1,
    })
    expect(await find(made.apiKey)).toMatchObject({ kind: 'apiKey', networks: ['mainnet'] })
    expect(await list(as)).toEqual([made.key])
  })

  test('a missing or unknown value names the field and the fix', async () => {
    const { as } = await signUp(control)
    expect(errorOf(await create(as, {}), 422).fields).toEqual([
      { field: 'name', fix: 'is missing: give a text' },
      { field: 'network', fix: 'is missing: give one of testnet, mainnet' },
    ])
    expect(errorOf(await create(as, { name: 'x', network: 'Mainnet' }), 422).fields).toEqual([
      { field: 'network', fix: 'must be one of testnet, mainnet' },
    ])
    expect(errorOf(await control.call('POST /api/keys', { as }), 422).fields).toEqual([
      { field: '', fix: 'must be an object' },
    ])
  })

  test('ten that are asked for at once make four, and a revoked one frees its place', async () => {
    const { as } = await signUp(control)
    const made = await Promise.all(Array.from({ length: 10 }, () => create(as)))
    const good = made.filter(({ status }) => status === 201).map((answered) => bodyOf<Made>(answered, 201))
    expect(good).toHaveLength(4)
    for (const answered of made.filter(({ status }) => status !== 201))
      expect(errorOf(answered, 409).code).toBe('too_many')
    expect(await list(as)).toHaveLength(4)
    const [first] = good
    const params = { keyId: first?.key.id ?? '' }
    expect(await find(first?.apiKey ?? '')).toMatchObject({ status: 'active' })
    const revoked = await control.call('POST /api/keys/{keyId}/revoke', { as, params })
    expect(bodyOf<ApiKeyView>(revoked)).toMatchObject({ state: 'revoked', revealable: false })
    expect(await find(first?.apiKey ?? '')).toMatchObject({ status: 'revoked' })
    expect(errorOf(await control.call('POST /api/keys/{keyId}/revoke', { as, params }), 409).code).toBe('revoked')
    for (const name of ['rotate', 'reveal'] as const)
      expect(errorOf(await control.call(`POST /api/keys/{keyId}/${name}`, { as, params, body: {} }), 409).code).toBe(
        'revoked',
      )
    const late = await control.call('PATCH /api/keys/{keyId}', { as, params, body: { version: 2, name: 'x' } })
    expect(errorOf(late, 409).code).toBe('revoked')
    expect(bodyOf<ApiKeyView>(await control.call('GET /api/keys/{keyId}', { as, params })).state).toBe('revoked')
    expect((await create(as)).status).toBe(201)
    expect((await create(as)).status).toBe(409)
  })

  test('are changed only as they were seen', async () => {
    const { person, key, apiKey } = await createWorld(control)
    const { as } = person
    const params = { keyId: key.id }
    const edit = (body: { version: number; name?: string; expiresAt?: string | null }) =>
      control.call('PATCH /api/keys/{keyId}', { as, params, body })
    const ends = new Date(control.clock.now + minute).toISOString()
    const edited = bodyOf<ApiKeyView>(await edit({ version: key.version, name: 'New', expiresAt: ends }))
    expect(edited).toMatchObject({ name: 'New', expiresAt: ends, version: key.version + 1 })
    expect(await find(apiKey)).toMatchObject({ expiresAt: control.clock.now + minute })
    expect(errorOf(await edit({ version: key.version, name: 'Late' }), 409).code).toBe('version_conflict')
    expect((await edit({ version: edited.version, expiresAt: '2020-01-01T00:00:00Z' })).status).toBe(422)
    expect(bodyOf<ApiKeyView>(await edit({ version: edited.version, expiresAt: null })).expiresAt).toBeNull()
  })

  test('are rotated with grace, and the old one is ended early', async () => {
    const { person, key, apiKey } = await createWorld(control)
    const { as } = person
    const params = { keyId: key.id }
    const rotated = bodyOf<Made>(
      await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: { graceDays: 1 } }),
    )
    expect(rotated.key).toMatchObject({ state: 'rotated', ending: rotated.apiKey.slice(-4) })
    expect([await find(apiKey), await find(rotated.apiKey)]).toMatchObject([{ status: 'active' }, { status: 'active' }])
    expect(bodyOf<ApiKeyView>(await control.call('DELETE /api/keys/{keyId}/old', { as, params }))).toMatchObject({
      state: 'active',
      oldUntil: null,
    })
    expect(await find(apiKey)).toBeUndefined()
    const last = bodyOf<Made>(await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: {} }))
    expect(last.key).toMatchObject({ state: 'active', oldUntil: null })
    expect(await find(rotated.apiKey)).toBeUndefined()
  })

  test("an app's key is not found among them", async () => {
    const { person, app } = await createWorld(control)
    const { as } = person
    const params = { keyId: app.key.id }
    expect((await control.call('GET /api/keys/{keyId}', { as, params })).status).toBe(404)
    expect((await control.call('POST /api/keys/{keyId}/revoke', { as, params })).status).toBe(404)
    expect((await control.call('POST /api/keys/{keyId}/reveal', { as, params, body: {} })).status).toBe(404)
    expect((await control.call('GET /api/keys/{keyId}/metrics', { as, params })).status).toBe(404)
  })

  describe('are shown again', () => {
    test('in the first 15 minutes of a session, and after that by the password alone; each time it is noted', async () => {
      const { person, key, apiKey, app, appKey } = await createWorld(control)
      const { as } = person
      const params = { keyId: key.id }
      const reveal = (body: { password?: string }) =>
        control.call('POST /api/keys/{keyId}/reveal', { as, params, body })
      expect(bodyOf(await reveal({}))).toEqual({ apiKey, address: `${control.url}/testnet/${apiKey}` })
      control.clock.now += 15 * minute
      expect(errorOf(await reveal({}), 403).code).toBe('confirm_required')
      expect(errorOf(await reveal({ password: 'not this one' }), 403).code).toBe('wrong_password')
      expect(bodyOf(await reveal({ password }))).toEqual({ apiKey, address: `${control.url}/testnet/${apiKey}` })
      const revealOfApp = (body: { password?: string }) =>
        control.call('POST /api/apps/{appId}/key/reveal', { as, params: { appId: app.id }, body })
      expect(errorOf(await revealOfApp({}), 403).code).toBe('confirm_required')
      const ofApp = await revealOfApp({ password })
      expect(bodyOf(ofApp)).toEqual({
        apiKey: appKey,
        addresses: {
          testnet: `${control.url}/testnet/v2/${appKey}`,
          mainnet: `${control.url}/mainnet/v2/${appKey}`,
        },
      })
      const log = await control.storage.auditLog.list({ userId: person.id, limit: 100 })
      expect(log.filter(({ action }) => action === 'key.reveal').map(({ subject }) => subject)).toEqual([
        app.key.id,
        key.id,
        key.id,
      ])
    })

    test('not where no copy is kept, and not where its secret is gone', async () => {
      const { as } = await signUp(control)
      const params = { keyId: bodyOf<Made>(await create(as), 201).key.id }
      const reveal = () => control.call('POST /api/keys/{keyId}/reveal', { as, params, body: {} })
      control.config.reveal = false
      const kept = bodyOf<Made>(await create(as), 201)
      expect(kept.key.revealable).toBe(false)
      expect(await control.storage.keys.findSealed({ id: kept.key.id, userId: kept.key.id })).toBeUndefined()
      expect(errorOf(await reveal(), 409).code).toBe('not_revealable')
      control.config.reveal = true
      expect((await reveal()).status).toBe(200)
      const secrets = control.secrets.splice(0, 1, createServerSecret('y'.repeat(40), { version: 2 }))
      expect(errorOf(await reveal(), 409).code).toBe('not_revealable')
      const rotated = bodyOf<Made>(await control.call('POST /api/keys/{keyId}/rotate', { as, params, body: {} }))
      expect(bodyOf<{ apiKey: string }>(await reveal()).apiKey).toBe(rotated.apiKey)
      control.secrets.splice(0, 1, ...secrets)
    })
  })
})
