import { describe, expect, test } from 'vitest'
import type { AppView } from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { suiteDatabases } from '../storage/databases.ts'
import type { TestResponse, StartedControl } from './startControl.ts'
import { createAppBody, expectBody, expectError, createFixture, signUp } from './accountFixture.ts'
import type { TestUser } from './accountFixture.ts'
import { useControl } from './useControl.ts'

const day = 86_400_000

describe.each(suiteDatabases)('apps on $name', (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  const create = (as: TestUser['as'], body: Record<string, unknown> = createAppBody()): Promise<TestResponse> =>
    control.call('POST /api/apps', { as, body: body as ReturnType<typeof createAppBody> })
  const edit = (as: TestUser['as'], { id: appId, version }: AppView, change: Record<string, unknown>) =>
    control.call('PATCH /api/apps/{appId}', { as, params: { appId }, body: { version, ...change } })
  const find = (key: string) => Promise.resolve(control.keys.find(hashApiKey(key)))

  test('creation returns the key, which is masked from then on', async () => {
    const { as } = await signUp(control)
    const created = await create(as, { ...createAppBody('Shop'), description: 'Sells.\nThings.' })
    const { app, apiKey, urls } = expectBody<{ app: AppView; apiKey: string; urls: Record<string, string> }>(
      created,
      201,
    )
    expect(urls).toEqual({
      testnet: `${control.url}/testnet/v2/${apiKey}`,
      mainnet: `${control.url}/mainnet/v2/${apiKey}`,
    })
    expect(app).toMatchObject({
      name: 'Shop',
      description: 'Sells.\nThings.',
      networks: ['testnet', 'mainnet'],
      services: ['Node API'],
      limits: { perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 },
      ownLimits: null,
      version: 1,
      key: {
        state: 'active',
        ending: apiKey.slice(-4),
        revealable: true,
        urls: { testnet: `${control.url}/testnet/v2/…${apiKey.slice(-4)}` },
      },
    })
    expect(await find(apiKey)).toMatchObject({ kind: 'app', status: 'active', appId: app.id })
    const shown = await control.call('GET /api/apps/{appId}', { as, params: { appId: app.id } })
    expect(expectBody(shown)).toEqual(app)
    expect(shown.text).not.toContain(apiKey)
  })

  test('errors name every invalid field with its fix, and repeat no value', async () => {
    const { as } = await signUp(control)
    const nothing = expectError(await create(as, {}), 422)
    expect(nothing.fields).toEqual([
      { field: 'name', fix: 'is missing: send a string' },
      {
        field: 'useCase',
        fix: 'is missing: send one of Defi, Analytics, Gaming, Wallet, NFT, Payments, Social, Infrastructure, Other',
      },
      { field: 'chain', fix: 'is missing: send a string' },
      { field: 'services', fix: 'is missing: send an array' },
    ])
    const wrong = await create(as, {
      name: `${'x'.repeat(64)}ySECRET`,
      description: 'z'.repeat(501),
      useCase: 'wallet SECRET',
      chain: 'SECRET',
      services: [],
      networks: ['testnet', 'testnet'],
      expiresAt: 'tomorrow SECRET',
      owner: 'SECRET',
      'kr_SECRET ': 1,
    })
    expect(expectError(wrong, 422).fields).toEqual([
      { field: 'name', fix: 'must have 1 to 64 characters' },
      { field: 'description', fix: 'must have at most 500 characters' },
      {
        field: 'useCase',
        fix: 'must be one of Defi, Analytics, Gaming, Wallet, NFT, Payments, Social, Infrastructure, Other',
      },
      { field: 'services', fix: 'must contain at least one of Node API, Private transactions' },
      { field: 'networks', fix: 'must not contain duplicates' },
      { field: 'expiresAt', fix: 'must be a UTC time such as 2026-11-21T12:00:00Z' },
      { field: 'owner', fix: 'is not a known field: remove it' },
      { field: '', fix: 'contains an unknown field: remove it' },
    ])
    expect(wrong.text).not.toContain('SECRET')
    const late = await create(as, { ...createAppBody(), chain: 'BTC', expiresAt: '2020-01-01T00:00:00Z' })
    expect(expectError(late, 422).fields).toEqual([
      { field: 'chain', fix: 'must be ethereum' },
      { field: 'expiresAt', fix: 'is in the past: send a time in the future, or null for no expiry' },
    ])
    expect(expectBody<{ total: number }>(await control.call('GET /api/apps', { as })).total).toBe(0)
  })

  test('names allow any script, are counted in code points, and are unique regardless of letter case', async () => {
    const { as } = await signUp(control)
    const markup = `<script>alert(1)</script> & "'\``
    for (const name of ['🧪'.repeat(64), markup, '見本', '  spaced  ', '\\u0041', "'; drop table apps; --"]) {
      const { app } = expectBody<{ app: AppView }>(await create(as, { ...createAppBody(), name }), 201)
      expect(app.name).toBe(name.trim())
      const again = await control.call('GET /api/apps/{appId}', { as, params: { appId: app.id } })
      expect(expectBody<AppView>(again).name).toBe(name.trim())
    }
    for (const name of ['🧪'.repeat(65), '', '   ', 'a\u0000b', 'a\nb', '\ud800'])
      expect(expectError(await create(as, { ...createAppBody(), name }), 422).fields?.[0]?.field).toBe('name')
    for (const name of [markup.toUpperCase(), ' SPACED'])
      expect(expectError(await create(as, { ...createAppBody(), name }), 409)).toMatchObject({
        code: 'name_taken',
        fields: [{ field: 'name' }],
      })
    const other = await signUp(control)
    expect((await create(other.as, { ...createAppBody(), name: markup })).status).toBe(201)
  })

  test('two concurrent requests with the same name create one app', async () => {
    const { as } = await signUp(control)
    const body = createAppBody()
    const both = await Promise.all([create(as, body), create(as, body)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
  })

  test('concurrent requests cannot exceed the maximum number of apps', async () => {
    const { as } = await signUp(control)
    control.config.maxApps = 3
    const created = await Promise.all(Array.from({ length: 8 }, () => create(as)))
    control.config.maxApps = 20
    expect(created.filter(({ status }) => status === 201)).toHaveLength(3)
    const full = created.filter(({ status }) => status !== 201)
    for (const response of full) expect(expectError(response, 409).code).toBe('too_many')
  })

  test('are paginated and searchable, each listed once', async () => {
    const { as } = await signUp(control)
    control.config.maxApps = 100
    for (let index = 0; index < 13; index += 1)
      expect((await create(as, createAppBody(`${index % 2 === 0 ? 'Even' : 'Odd'} ${index}`))).status).toBe(201)
    control.config.maxApps = 20
    const read = async (search: string): Promise<string[]> => {
      const names: string[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const query = { limit: 4, search, ...(cursor === undefined ? {} : { cursor }) }
        const page = expectBody<{ items: AppView[]; next: string | null; total: number }>(
          await control.call('GET /api/apps', { as, query }),
        )
        expect(page.items.length).toBeLessThanOrEqual(4)
        expect(page.total).toBe(search === '' ? 13 : 7)
        names.push(...page.items.map(({ name }) => name))
        cursor = page.next
      }
      return names
    }
    expect(new Set(await read(''))).toEqual(
      new Set(Array.from({ length: 13 }, (_, index) => `${index % 2 === 0 ? 'Even' : 'Odd'} ${index}`)),
    )
    expect(await read('EVEN')).toHaveLength(7)
    for (const cursor of [
      'x',
      'W10',
      Buffer.from('[1]').toString('base64url'),
      Buffer.from('["a",1]').toString('base64url'),
    ])
      expect((await control.call('GET /api/apps', { as, query: { cursor } })).status).toBe(422)
    for (const limit of [0, 101, 1.5])
      expect((await control.call('GET /api/apps', { as, query: { limit } })).status).toBe(422)
    expect(
      (await control.raw('/api/apps?what=1', { headers: { cookie: 'cookie' in as ? as.cookie : '' } })).status,
    ).toBe(422)
  })

  test('an edit needs the current version, and applies to requests immediately', async () => {
    const { user, app, appKey } = await createFixture(control)
    const { as } = user
    expect(await find(appKey)).toMatchObject({ networks: ['testnet', 'mainnet'] })
    const edited = expectBody<AppView>(await edit(as, app, { networks: ['mainnet'], services: [], name: 'Renamed' }))
    expect(edited).toMatchObject({ networks: ['mainnet'], services: [], name: 'Renamed', version: app.version + 1 })
    expect(await find(appKey)).toMatchObject({ networks: ['mainnet'], services: [] })
    expect(expectError(await edit(as, app, { name: 'Late' }), 409).code).toBe('version_conflict')
    const racing = await Promise.all(
      Array.from({ length: 5 }, (_, index) => edit(as, edited, { description: `${index}` })),
    )
    expect(racing.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409])
    for (const change of [{ chain: 'ethereum' }, { version: 0 }, { version: '1' }, { useCase: 'No' }, { name: null }])
      expect((await edit(as, app, change)).status).toBe(422)
  })

  test("have limits of their own, which cannot exceed the account's", async () => {
    const { user, app } = await createFixture(control)
    const { as, id } = user
    const first = expectBody<AppView>(await edit(as, app, { limits: { perDay: 500, perSecond: 5 } }))
    expect(first.limits).toEqual({ perSecond: 5, burst: 1_000, perDay: 500, perMonth: 3_000_000 })
    const over = await edit(as, first, { limits: { perDay: 100_001, perMonth: null, perSecond: 100, burst: 2_000 } })
    expect(expectError(over, 422).fields).toEqual([
      { field: 'limits.perDay', fix: 'must be at most 100000' },
      { field: 'limits.perMonth', fix: 'must be at most 3000000' },
      { field: 'limits.burst', fix: 'must be at most 1000' },
    ])
    await control.accounts.operator.setUserLimits({ id, limits: { perDay: null, perMonth: 10 } })
    const more = expectBody<AppView>(await edit(as, first, { limits: { perDay: 200_000 } }))
    expect(more.limits).toMatchObject({ perDay: 200_000, perMonth: 10 })
    await control.accounts.operator.setUserLimits({ id, limits: { perDay: 50 } })
    const lowered = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params: { appId: app.id } }))
    expect([lowered.ownLimits, lowered.limits.perDay]).toEqual([{ perDay: 200_000 }, 50])
    await control.accounts.operator.setUserLimits({ id, limits: { perDay: null, perMonth: 10 } })
    const none = expectBody<AppView>(await edit(as, more, { limits: null }))
    expect([none.ownLimits, none.limits.perDay]).toEqual([null, null])
    const usage = await control.call('GET /api/apps/{appId}/usage', { as, params: { appId: app.id } })
    expect(expectBody<{ month: unknown }>(usage).month).toMatchObject({ used: 70, limit: 10, remaining: 0 })
  })

  test('deletion needs the name, and the key is rejected immediately', async () => {
    const { user, app, appKey } = await createFixture(control)
    const { as } = user
    const params = { appId: app.id }
    expect(await find(appKey)).toBeDefined()
    const wrong = await control.call('POST /api/apps/{appId}/delete', { as, params, body: { name: 'Other' } })
    expect(expectError(wrong, 422).fields).toEqual([{ field: 'name', fix: "must be the app's name" }])
    expect((await control.call('POST /api/apps/{appId}/delete', { as, params, body: { name: app.name } })).status).toBe(
      204,
    )
    expect(await find(appKey)).toBeUndefined()
    expect((await control.call('GET /api/apps/{appId}', { as, params })).status).toBe(404)
  })

  test('keys are rotated with a grace period that can end early, and get an expiry', async () => {
    const { user, app, appKey } = await createFixture(control)
    const { as } = user
    const params = { appId: app.id }
    const rotate = (body: { graceDays?: number; expiresAt?: string | null }) =>
      control.call('POST /api/apps/{appId}/key/rotate', { as, params, body })
    const first = expectBody<{ app: AppView; apiKey: string }>(await rotate({ graceDays: 7 }))
    expect(first.app.key).toMatchObject({
      state: 'rotated',
      oldUntil: new Date(control.clock.now + 7 * day).toISOString(),
      ending: first.apiKey.slice(-4),
    })
    expect(await find(appKey)).toMatchObject({ expiresAt: control.clock.now + 7 * day })
    expect(await find(first.apiKey)).toMatchObject({ status: 'active' })
    const second = expectBody<{ app: AppView; apiKey: string }>(await rotate({ graceDays: 1 }))
    expect(await find(appKey)).toBeUndefined()
    expect(await find(first.apiKey)).toBeDefined()
    const dropped = expectBody<AppView>(await control.call('DELETE /api/apps/{appId}/key/old', { as, params }))
    expect(dropped.key).toMatchObject({ state: 'active', oldUntil: null })
    expect(await find(first.apiKey)).toBeUndefined()
    expect(await find(second.apiKey)).toBeDefined()
    for (const graceDays of [-1, 8, 0.5])
      expect(expectError(await rotate({ graceDays }), 422).fields).toEqual([
        { field: 'graceDays', fix: 'must be a whole number from 0 to 7' },
      ])
    const ends = new Date(control.clock.now + 1_000).toISOString()
    const setExpiry = (body: { version?: number; expiresAt: string | null }) =>
      control.call('PUT /api/apps/{appId}/key/expiry', { as, params, body })
    const { version } = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
    expect(expectError(await setExpiry({ version: version - 1, expiresAt: ends }), 409).code).toBe('version_conflict')
    expect(expectBody<AppView>(await setExpiry({ version, expiresAt: null })).version).toBe(version + 1)
    const ending = await setExpiry({ expiresAt: ends })
    expect(expectBody<AppView>(ending).key).toMatchObject({ state: 'active', expiresAt: ends })
    control.clock.now += 1_000
    const over = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
    expect(over.key.state).toBe('expired')
    expect(expectError(await rotate({}), 422).fields?.[0]?.field).toBe('expiresAt')
    expect(expectBody<{ app: AppView }>(await rotate({ expiresAt: null })).app.key).toMatchObject({
      state: 'active',
      expiresAt: null,
    })
  })
})
