import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type {
  ControlApi,
  RequestEntriesView,
  RequestDetailsView,
  RequestsQuery,
} from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { createLogId } from '../../src/usage/requestLog/logId.ts'
import { toRequestSteps } from '../../src/usage/requestLog/requestLogRows.ts'
import type { RequestRow } from '../../src/usage/requestLog/requestLogRows.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { createRequestRow } from '../usage/createRequestRow.ts'
import { startControl } from './startControl.ts'
import type { StartedControl } from './startControl.ts'
import { addMember, createAppBody, expectBody, password, signUp } from './accountFixture.ts'
import type { TestUser } from './accountFixture.ts'

const start = Date.UTC(2026, 10, 20)

describe.each(suiteDatabases)('the request log on $name', (database) => {
  let control: StartedControl
  let user: TestUser
  beforeAll(async () => {
    control = await startControl(database)
    user = await signUp(control)
  })
  afterAll(async () => {
    await control.close()
    await database.stop()
  })

  const createApp = async ({ as } = user) => {
    const created = await control.call('POST /api/apps', { as, body: createAppBody() })
    return expectBody<{ app: { id: string; version: number; key: { id: string } } }>(created, 201).app
  }
  const write = async (rows: readonly RequestRow[]): Promise<void> => {
    await control.storage.write(toRequestSteps(control.storage.db.kind, rows))
  }
  const list = async (appId: string, query: RequestsQuery = {}): Promise<RequestEntriesView> =>
    expectBody(await control.call('GET /api/apps/{appId}/requests', { as: user.as, params: { appId }, query }))

  test('previews which requests of the last day an origin would reject, and finds those of websites', async () => {
    const owner = await signUp(control)
    const app = await createApp(owner)
    const keyId = app.key.id
    const at = control.clock.now
    const day = 86_400_000
    await write([
      createRequestRow({ keyId, at: at - 1, outcome: 'succeeded', origin: 'https://a.example' }),
      createRequestRow({ keyId, at: at - 2, outcome: 'reverted', origin: 'https://b.example' }),
      createRequestRow({ keyId, at: at - 3, outcome: 'succeeded', origin: 'https://b.example' }),
      createRequestRow({ keyId, at: at - 4, outcome: 'succeeded', origin: null }),
      // Rejected anyway, and too old.
      createRequestRow({ keyId, at: at - 5, outcome: 'rate_limited', origin: 'https://b.example' }),
      createRequestRow({ keyId, at: at - day - 1, outcome: 'succeeded', origin: 'https://b.example' }),
    ])
    const params = { appId: app.id }
    const preview = async (value: string) =>
      expectBody(
        await control.call('GET /api/apps/{appId}/allow-list/preview', {
          as: owner.as,
          params,
          query: { type: 'origin', value },
        }),
      )
    expect(await preview('https://a.example')).toEqual({
      source: 'requestLog',
      requests: 4,
      rejected: 3,
      examples: ['https://b.example', null],
    })
    expect(await preview('*.example')).toMatchObject({ requests: 4, rejected: 1, examples: [null] })
    const getOrigins = async () =>
      expectBody(await control.call('GET /api/apps/{appId}/origins', { as: owner.as, params }))
    expect(await getOrigins()).toEqual({
      isLimited: false,
      items: [
        { origin: 'https://b.example', requests: 2 },
        { origin: 'https://a.example', requests: 1 },
      ],
    })
    const body = { type: 'origin' as const, value: 'https://a.example' }
    expectBody(await control.call('POST /api/apps/{appId}/allow-list', { as: owner.as, params, body }), 201)
    expect(await getOrigins()).toMatchObject({ isLimited: true })
    expect(await preview('https://b.example')).toMatchObject({ rejected: 1 })
  })

  test('previews what a method would reject by the metrics, which have all requests', async () => {
    const owner = await signUp(control)
    const { id: appId } = await createApp(owner)
    const preview = (value: string) =>
      control.call('GET /api/apps/{appId}/allow-list/preview', {
        as: owner.as,
        params: { appId },
        query: { type: 'method', value },
      })
    const example = { source: 'metrics', requests: 4 }
    expect(expectBody(await preview('eth_call'))).toEqual({ ...example, rejected: 4, examples: ['eth_blockNumber'] })
    expect(expectBody(await preview('eth_*'))).toEqual({ ...example, rejected: 0, examples: [] })
    expect((await preview('not a method')).status).toBe(422)
  })

  test('lists the requests of an app, newest first, in pages', async () => {
    const { id, key } = await createApp()
    // Several in the same millisecond.
    const rows = Array.from({ length: 7 }, (_, index) =>
      createRequestRow({ keyId: key.id, at: start + Math.floor(index / 3) }),
    )
    await write(rows)
    const expected = rows
      .map(({ request }) => request.id)
      .sort()
      .toReversed()
    const first = await list(id, { limit: 3 })
    const second = await list(id, { limit: 3, cursor: first.next ?? '' })
    const third = await list(id, { limit: 3, cursor: second.next ?? '' })
    expect([first, second, third].map(({ items }) => items.map((item) => item.id))).toEqual([
      expected.slice(0, 3),
      expected.slice(3, 6),
      expected.slice(6),
    ])
    expect(third.next).toBeNull()
    expect(third.items[0]).toMatchObject({ at: new Date(start).toISOString(), method: 'eth_call', durationMs: 1.5 })
  })

  test.each<[string, RequestsQuery, readonly number[]]>([
    ['a method', { method: 'eth_fetchAll' }, [2]],
    ['an outcome', { outcome: 'rate_limited' }, [2]],
    ['failed requests', { outcome: 'failed' }, [2, 0]],
    ['a network', { network: 'mainnet' }, [1]],
    ['the ending of a key', { keyEnding: 'ABCD' }, [0]],
    ['several at once', { outcome: 'failed', keyEnding: 'WXYZ' }, [2]],
    ['requests before any', { after: createLogId(start - 60_000) }, [2, 1, 0]],
    ['nothing', { method: 'eth_chainId' }, []],
  ])('filters by %s', async (_, query, expected) => {
    const { id, key } = await createApp()
    const rows = [
      createRequestRow({ keyId: key.id, at: start, keyEnding: 'ABCD' }),
      createRequestRow({ keyId: key.id, at: start + 1, outcome: 'succeeded', network: 'mainnet' }),
      createRequestRow({ keyId: key.id, at: start + 2, outcome: 'rate_limited', method: 'eth_fetchAll' }),
    ]
    await write(rows)
    const { items } = await list(id, query)
    expect(items.map((item) => item.id)).toEqual(expected.map((index) => rows[index]?.request.id))
  })

  test('returns requests after one, and those of the 5 seconds before that other instances may have written late', async () => {
    const { id, key } = await createApp()
    const rows = [-5_001, -5_000, 0, 1].map((ms) => createRequestRow({ keyId: key.id, at: start + ms }))
    await write(rows)
    const { items } = await list(id, { after: rows[2]?.request.id ?? '' })
    expect(items.map((item) => item.id)).toEqual([3, 2, 1].map((index) => rows[index]?.request.id))
  })

  test('gets a request with its excerpts for 24 hours', async () => {
    const { id, key } = await createApp()
    const row = createRequestRow(
      { keyId: key.id, at: control.clock.now },
      { params: '[{"to":"0x1"}]', response: '{"code":3}' },
    )
    await write([row])
    const get = async (): Promise<RequestDetailsView> =>
      expectBody(
        await control.call('GET /api/apps/{appId}/requests/{logId}', {
          as: user.as,
          params: { appId: id, logId: row.request.id },
        }),
      )
    expect(await get()).toMatchObject({ id: row.request.id, params: '[{"to":"0x1"}]', response: '{"code":3}' })
    const before = control.clock.now
    control.clock.now += 24 * 60 * 60_000 + 1
    expect(await get()).toMatchObject({ id: row.request.id, params: null, response: null })
    control.clock.now = before
  })

  test('a request has its revert data, whether or not details are recorded', async () => {
    const owner = await signUp(control)
    const { id, key } = await createApp(owner)
    const row = createRequestRow({ keyId: key.id, at: start, outcome: 'reverted', revertData: '0xdeadbeef' })
    await write([row])
    const params = { appId: id, logId: row.request.id }
    const found = await control.call('GET /api/apps/{appId}/requests/{logId}', { as: owner.as, params })
    expect(expectBody(found)).toMatchObject({ revertData: '0xdeadbeef', params: null, response: null })
  })

  test('each member of a team has saved filters of their own, for each log', async () => {
    const owner = await signUp(control)
    const { id: accountId } = expectBody<{ id: string }>(
      await control.call('POST /api/accounts', { as: owner.as, body: { name: 'Acme' } }),
      201,
    )
    const viewer = await signUp(control)
    await addMember(control, accountId, { id: viewer.id, role: 'viewer' })
    const inTeam = (as: TestUser['as']) => ({ ...as, account: accountId })
    const created = await control.call('POST /api/apps', { as: inTeam(owner.as), body: createAppBody() })
    const params = { appId: expectBody<{ app: { id: string } }>(created, 201).app.id }
    const list = async (as: TestUser['as']) =>
      expectBody(await control.call('GET /api/apps/{appId}/saved-filters', { as: inTeam(as), params }))
    const items = [{ name: 'Failures', filters: { outcome: 'failed', keyEnding: 'WXYZ' } }]
    const set = (body: ControlApi['PUT /api/apps/{appId}/saved-filters']['body']) =>
      control.call('PUT /api/apps/{appId}/saved-filters', { as: inTeam(viewer.as), params, body })
    expect(expectBody(await set({ items }))).toEqual({ items })
    expect(await list(viewer.as)).toEqual({ items })
    expect(await list(owner.as)).toEqual({ items: [] })
    expectBody(await set({ items: [] }))
    expect(await list(viewer.as)).toEqual({ items: [] })
  })

  test.each<[string, string, unknown]>([
    ['more than 20', 'items', Array.from({ length: 21 }, (_, at) => ({ name: `${at}`, filters: {} }))],
    ['two of one name', 'items', [1, 2].map(() => ({ name: 'Failures', filters: {} }))],
    ['a long name', 'items[0].name', [{ name: 'x'.repeat(65), filters: {} }]],
    ['another parameter', 'items[0].filters', [{ name: 'A', filters: { request: 'log_1' } }]],
  ])('rejects saved filters with %s', async (_, field, items) => {
    const owner = await signUp(control)
    const { id } = await createApp(owner)
    const body = { items } as ControlApi['PUT /api/apps/{appId}/saved-filters']['body']
    const params = { appId: id }
    const response = await control.call('PUT /api/apps/{appId}/saved-filters', { as: owner.as, params, body })
    expect(response.status).toBe(422)
    expect((response.body as ApiErrorView).error.fields?.[0]?.field).toMatch(field)
  })

  test('an app has custom errors, which are checked, logged, and gone with the app', async () => {
    const owner = await signUp(control)
    const { id } = await createApp(owner)
    const params = { appId: id }
    const set = (signatures: readonly string[]) =>
      control.call('PUT /api/apps/{appId}/contract-errors', { as: owner.as, params, body: { signatures } })
    const signatures = ['error Foo(uint256 a)', 'error Bar((address owner, bytes32[2] ids) one)']
    expectBody(await set(signatures))
    for (const wrong of ['event Foo()', 'error Foo', 'error Foo(uint256 a) view', `error ${'F'.repeat(500)}()`])
      expect((await set([wrong])).status).toBe(422)
    expect((await set([...signatures, signatures[0] ?? ''])).status).toBe(422)
    expect((await set(Array.from({ length: 301 }, (_, at) => `error Foo${at}()`))).status).toBe(422)
    const got = await control.call('GET /api/apps/{appId}/contract-errors', { as: owner.as, params })
    expect(expectBody(got)).toEqual({ signatures })
    const [entry] = await control.storage.auditLog.list({ limit: 1 })
    expect(entry).toMatchObject({ action: 'app.setErrors', subject: id, detail: { errors: 2 } })
    await control.storage.apps.remove({ id, userId: owner.id, now: control.clock.now })
    const rows = control.storage.db.query.selectFrom('contractErrors').selectAll().where('appId', '=', id)
    expect(await rows.execute()).toEqual([])
  })

  test('metrics say from when on they count', async () => {
    const owner = await signUp(control)
    const { id } = await createApp(owner)
    const params = { appId: id }
    const metrics = await control.call('GET /api/apps/{appId}/metrics', { as: owner.as, params, query: {} })
    expect(expectBody(metrics)).toMatchObject({ countedFrom: new Date(control.clock.now).toISOString() })
  })

  test('exports the filtered requests of a log as CSV', async () => {
    const { id, key } = await createApp()
    const failed = Array.from({ length: 1_100 }, (_, index) =>
      createRequestRow({ keyId: key.id, at: start + index, requestId: `failed-${index}`, method: '=cmd()' }),
    )
    for (let from = 0; from < failed.length; from += 250) await write(failed.slice(from, from + 250))
    await write([createRequestRow({ keyId: key.id, at: start, outcome: 'succeeded' })])
    const { headers, text } = await control.call('GET /api/apps/{appId}/requests.csv', {
      as: user.as,
      params: { appId: id },
      query: { outcome: 'failed' },
    })
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="keyrail-app-[a-z0-9]+-requests\.csv"$/)
    const [header, first, ...others] = text.trimEnd().split('\r\n')
    expect(header).toMatch(/^at,method,outcome,code,message,status,durationMs,network,requestId,/)
    expect(first).toMatch(
      /^2026-11-20T00:00:01\.099Z,'=cmd\(\),nodeError,3,execution reverted,200,1\.5,testnet,failed-1099,/,
    )
    expect(new Set(others).size).toBe(1_099)
  })

  test('an API key has its own log, and a key of an app is not an API key', async () => {
    const created = await control.call('POST /api/keys', {
      as: user.as,
      body: { name: 'My key', network: 'testnet' },
    })
    const { key } = expectBody<{ key: { id: string } }>(created, 201)
    const { key: appKey } = await createApp()
    const row = createRequestRow({ keyId: key.id, at: start })
    await write([row, createRequestRow({ keyId: appKey.id, at: start })])
    const { items } = expectBody<RequestEntriesView>(
      await control.call('GET /api/keys/{keyId}/requests', { as: user.as, params: { keyId: key.id } }),
    )
    expect(items.map(({ id }) => id)).toEqual([row.request.id])
    const other = await control.call('GET /api/keys/{keyId}/requests', {
      as: user.as,
      params: { keyId: appKey.id },
    })
    expect(other.status).toBe(404)
  })

  test.each([
    [{ cursor: 'x' }, 'cursor'],
    [{ after: 'log_1' }, 'after'],
    [{ outcome: 'no outcome' }, 'outcome'],
    [{ keyEnding: 'kr_aNotARealKey' }, 'keyEnding'],
    [{ method: 'x'.repeat(65) }, 'method'],
    [{ limit: 101 }, 'limit'],
  ])('rejects %j', async (query, field) => {
    const { id } = await createApp()
    const response = await control.call('GET /api/apps/{appId}/requests', {
      as: user.as,
      params: { appId: id },
      query,
    })
    expect(response.status).toBe(422)
    expect((response.body as ApiErrorView).error.fields?.map((problem) => problem.field)).toEqual([field])
  })

  test('the requests of a deleted app, and of a deleted account, are removed', async () => {
    const other = await signUp(control)
    const create = async (name: string) => {
      const created = await control.call('POST /api/apps', { as: other.as, body: createAppBody(name) })
      return expectBody<{ app: { id: string; key: { id: string } } }>(created, 201).app
    }
    const [first, second] = [await create('First'), await create('Second')]
    const created = await control.call('POST /api/keys', { as: other.as, body: { name: 'Key', network: 'testnet' } })
    const { key } = expectBody<{ key: { id: string } }>(created, 201)
    const keyIds = [first.key.id, second.key.id, key.id]
    await write(keyIds.map((keyId) => createRequestRow({ keyId, at: start }, { params: '[]', response: null })))
    /** The keys with requests, and those with excerpts. */
    const readKeys = async (): Promise<readonly (readonly string[])[]> => {
      const { query } = control.storage.db
      const rows = await query.selectFrom('requestLog').select('keyId').where('keyId', 'in', keyIds).execute()
      const excerpts = await query.selectFrom('requestExcerpts').select('keyId').where('keyId', 'in', keyIds).execute()
      return [rows, excerpts].map((table) => table.map(({ keyId }) => keyId).toSorted())
    }
    const inBoth = (...ids: string[]): readonly (readonly string[])[] => [ids.toSorted(), ids.toSorted()]
    expect(await readKeys()).toEqual(inBoth(...keyIds))
    const params = { appId: first.id }
    await control.call('POST /api/apps/{appId}/delete', { as: other.as, params, body: { name: 'First' } })
    await expect.poll(readKeys).toEqual(inBoth(second.key.id, key.id))
    expectBody(await control.call('POST /api/account/delete', { as: other.as, body: { password } }), 204)
    await expect.poll(readKeys).toEqual(inBoth())
  })

  test('details are recorded only after an app or an API key switches them on', async () => {
    const app = await createApp()
    const params = { appId: app.id }
    const changed = await control.call('PATCH /api/apps/{appId}', {
      as: user.as,
      params,
      body: { version: app.version, recordDetails: true },
    })
    expect(changed.body).toMatchObject({ recordDetails: true })
    const { version } = expectBody<{ version: number }>(changed)
    const renamed = await control.call('PATCH /api/apps/{appId}', {
      as: user.as,
      params,
      body: { version, description: 'new' },
    })
    expect(renamed.body).toMatchObject({ recordDetails: true })

    const created = await control.call('POST /api/keys', { as: user.as, body: { name: 'Two', network: 'testnet' } })
    const { key, apiKey } = expectBody<{
      key: { id: string; version: number; recordDetails: boolean }
      apiKey: string
    }>(created, 201)
    expect(key.recordDetails).toBe(false)
    const edited = await control.call('PATCH /api/keys/{keyId}', {
      as: user.as,
      params: { keyId: key.id },
      body: { version: key.version, recordDetails: true },
    })
    expect(edited.body).toMatchObject({ recordDetails: true })
    expect(await control.keys.find(hashApiKey(apiKey))).toMatchObject({ recording: { recordDetails: true } })
  })
})
