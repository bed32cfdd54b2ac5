import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MetricsView } from '../../src/control/contract/controlApi.d.ts'
import { openApi } from '../../src/control/contract/openApi.ts'
import { routeNames } from '../../src/control/routes.ts'
import { databases } from '../storage/databases.ts'
import { startControl } from './startControl.ts'
import type { StartedControl } from './startControl.ts'
import { createAppBody, expectBody, expectError, createFixture, signUp } from './accountFixture.ts'
import type { TestUser } from './accountFixture.ts'

const [sqlite] = databases

// Independent of the database.
describe('requests', () => {
  let control: StartedControl
  let user: TestUser
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error('SQLite is missing')
    control = await startControl(sqlite)
    user = await signUp(control)
  })
  afterAll(async () => {
    await control.close()
    await sqlite?.stop()
  })

  const browser = (): Record<string, string> => ({
    cookie: 'cookie' in user.as ? user.as.cookie : '',
    origin: control.url,
    'content-type': 'application/json',
  })
  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    control.raw('/api/apps', { method: 'POST', headers: { ...browser(), ...headers }, body })

  test('must be strict JSON in UTF-8, of at most 64 KiB', async () => {
    expect(expectError(await post('{"name":'), 400).code).toBe('bad_json')
    expect(expectError(await post('{"name":"a","name":"b"}'), 400).code).toBe('bad_json')
    expect(expectError(await post('{"n\\u0061me":"a"}'), 400).code).toBe('bad_json')
    expect(expectError(await post(Uint8Array.of(34, 255, 34)), 400).code).toBe('bad_json')
    for (const body of ['', 'null', '[]', '1', '"x"'])
      expect(expectError(await post(body), 422).fields).toEqual([{ field: '', fix: 'must be an object' }])
    expect(expectError(await post('['.repeat(20_000)), 400).code).toBe('bad_json')
    expect(expectError(await post(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), 422).code).toBe('invalid')
    expect(expectError(await post(`{"name":"${'x'.repeat(65_536)}"}`), 413).code).toBe('body_too_large')
    const chunked = await post(`{"name":"${'x'.repeat(65_536)}"}`, { 'transfer-encoding': 'chunked' })
    expect(expectError(chunked, 413).code).toBe('body_too_large')
    expect(expectError(await post('{}', { 'content-type': 'application/x-www-form-urlencoded' }), 415).code).toBe(
      'not_json',
    )
    const proto = await post(`{"__proto__":{"name":"x"},"constructor":1,${JSON.stringify(createAppBody()).slice(1)}`)
    expect(expectError(proto, 422).fields?.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['__proto__', 'constructor']),
    )
  })

  test('must name the public host, or any loopback name of it', async () => {
    const { port } = new URL(control.url)
    const request = (host: string, path = '/api/deployment') => control.raw(path, { headers: { host } })
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect((await request(host)).status).toBe(200)
    for (const path of ['/api/deployment', '/api/nothing']) {
      for (const host of ['localhost', 'localhost:1', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`])
        expect((await request(host, path)).status).toBe(421)
      // Not a valid host: rejected by the HTTP server.
      for (const host of [`localhost:${port}@evil.example`, `localhost:${port}/`])
        expect([400, 421]).toContain((await request(host, path)).status)
    }
    const other = { ...browser(), host: `localhost:${port}` }
    const write = (origin: string) =>
      control.raw('/api/apps', { method: 'POST', headers: { ...other, origin }, body: JSON.stringify(createAppBody()) })
    expect((await write(`http://localhost:${port}`)).status).toBe(201)
    expect((await write(control.url)).status).toBe(403)
  })

  test('with HEAD get headers only', async () => {
    const head = await control.raw('/api/deployment', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
  })

  test('have a server-generated id, and their responses are not cacheable', async () => {
    const response = await control.raw('/api/nothing', { headers: { 'x-request-id': 'mine' } })
    const { requestId } = expectError(response, 404)
    expect(requestId).toBe(response.headers.get('x-request-id'))
    expect(requestId).not.toBe('mine')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(control.logs.at(-1)).toMatchObject({
      event: 'control',
      route: 'other',
      status: 404,
      code: 'not_found',
      requestId,
    })
  })

  test('changes are throttled by account', async () => {
    const hasty = await signUp(control)
    const logOut = () => control.call('POST /api/keys/{keyId}/revoke', { as: hasty.as, params: { keyId: 'key_' } })
    const statuses = await Promise.all(Array.from({ length: 130 }, async () => (await logOut()).status))
    expect(statuses.filter((status) => status === 429).length).toBe(10)
    const slowed = await logOut()
    expect(expectError(slowed, 429).retryAfterMs).toBeGreaterThan(0)
    expect(Date.parse(slowed.headers.get('retry-after') ?? '')).toBeGreaterThan(control.clock.now)
    expect((await control.call('GET /api/apps', { as: hasty.as })).status).toBe(200)
    expect((await control.call('POST /api/apps', { as: user.as, body: createAppBody() })).status).toBe(201)
    control.clock.now += 60_000
    expect((await logOut()).status).toBe(404)
  })

  test('reads are throttled separately from changes', async () => {
    const hasty = await signUp(control)
    const read = () => control.call('GET /api/apps', { as: hasty.as })
    const statuses = await Promise.all(Array.from({ length: 210 }, async () => (await read()).status))
    expect(statuses.filter((status) => status === 429).length).toBe(10)
    expect(expectError(await read(), 429)).toMatchObject({
      code: 'too_many_requests',
      message: 'Too many reads at once. Try again in 1 s.',
    })
    expect((await control.call('POST /api/apps', { as: hasty.as, body: createAppBody() })).status).toBe(201)
    expect((await control.call('GET /api/apps', { as: user.as })).status).toBe(200)
    control.clock.now += 1_000
    expect((await read()).status).toBe(200)
  })

  test('an account has two metrics reads in flight and thirty queued; further ones are rejected', async () => {
    const reader = await signUp(control)
    const read = async () => (await control.call('GET /api/metrics', { as: reader.as, query: {} })).status
    const queriesBefore = control.metricsQueries.length
    let release = (): void => {}
    control.held.metrics = new Promise((resolve) => (release = resolve))
    let rejected = 0
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const status = await read()
        if (status === 429 && (rejected += 1) === 28) {
          expect(control.metricsQueries.length - queriesBefore).toBeLessThanOrEqual(2)
          delete control.held.metrics
          release()
        }
        return status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(32)
    expect(rejected).toBe(28)
    expect(await read()).toBe(200)
  })

  test('get 503 without details while the database is unavailable', async () => {
    const gone = await startControl(sqlite as (typeof databases)[number])
    const user = await signUp(gone)
    await gone.storage.close()
    const response = await gone.call('GET /api/apps', { as: user.as })
    expect(expectError(response, 503)).toMatchObject({ code: 'unavailable', retryAfterMs: 1_000 })
    expect(gone.logs.at(-2)).toMatchObject({ event: 'controlFault', route: 'GET /api/apps' })
    await gone.close()
  })

  test('for metrics return the time range, and CSV', async () => {
    const { user: owner, app, key } = await createFixture(control)
    const { as } = owner
    const hour = 3_600_000
    for (const [range, step, steps] of [
      ['hour', 'minute', 60],
      ['day', 'hour', 24],
      ['week', 'hour', 168],
      ['month', 'day', 30],
      ['quarter', 'day', 90],
    ] as const) {
      const view = expectBody<MetricsView>(
        await control.call('GET /api/apps/{appId}/metrics', { as, params: { appId: app.id }, query: { range } }),
      )
      expect([view.range, view.step, view.series.length]).toEqual([range, step, steps])
      const stepMs = { minute: 60_000, hour, day: 24 * hour }[step]
      // The current step is the last one.
      expect(Date.parse(view.to)).toBeGreaterThan(control.clock.now)
      expect(Date.parse(view.to) - control.clock.now).toBeLessThanOrEqual(stepMs)
      expect(Date.parse(view.to) % stepMs).toBe(0)
      expect(control.metricsQueries.at(-1)).toMatchObject({ subject: { appId: app.id }, step })
    }
    await control.call('GET /api/keys/{keyId}/metrics', { as, params: { keyId: key.id } })
    expect(control.metricsQueries.at(-1)?.subject).toEqual({ keyId: key.id })
    await control.call('GET /api/metrics', { as })
    expect(control.metricsQueries.at(-1)?.subject).toEqual({ userId: owner.id })
    const csv = async (of: 'series' | 'methods' | 'outcomes' | 'networks'): Promise<readonly string[]> => {
      const response = await control.call('GET /api/metrics.csv', { as, query: { of, range: 'hour' } })
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="keyrail-account-${of}-hour.csv"`)
      return response.text.split('\r\n')
    }
    expect((await csv('series')).slice(0, 2)).toEqual([
      'at,total,succeeded,reverted,p50Ms,p95Ms,connections,notifications',
      expect.stringMatching(/^20\d\d-.*Z,5,3,1,1\.5,2,1,5$/),
    ])
    expect(await csv('series')).toHaveLength(62)
    expect(await csv('methods')).toEqual([
      'method,total,succeeded,reverted,p50Ms,p95Ms',
      'eth_blockNumber,5,3,1,1.5,2',
      '',
    ])
    expect(await csv('outcomes')).toEqual(['outcome,total', 'succeeded,3', 'reverted,1', 'nodeError,1', ''])
    expect(await csv('networks')).toEqual(['network,total,succeeded,reverted', 'testnet,5,3,1', ''])
    // Named after the app or key, with the default range and rows.
    const ofApp = await control.call('GET /api/apps/{appId}/metrics.csv', { as, params: { appId: app.id } })
    expect(ofApp.headers.get('content-disposition')).toMatch(
      /^attachment; filename="keyrail-[a-z0-9-]+-series-day\.csv"$/,
    )
    const ofKey = await control.call('GET /api/keys/{keyId}/metrics.csv', { as, params: { keyId: key.id } })
    expect(ofKey.headers.get('content-disposition')).toMatch(/-(?:testnet|mainnet)-series-day\.csv"$/)
  })

  test('for metrics of a custom range return whole steps that the service still has, and can be filtered', async () => {
    const { user: owner } = await createFixture(control)
    const { as } = owner
    const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
    const readMetrics = async (ago: number, length: number) => {
      const from = control.clock.now - ago
      const query = { from: new Date(from).toISOString(), to: new Date(from + length).toISOString() }
      return control.call('GET /api/metrics', { as, query: { ...query, method: 'eth_call', outcome: 'nodeError' } })
    }
    for (const [ago, length, step] of [
      [7 * day, 6 * hour, minute],
      [7 * day, 6 * hour + 1, hour],
      [9 * day, 6 * hour, hour],
      [80 * day, 8 * day, hour],
      [80 * day, 8 * day + 1, day],
      [100 * day, hour, day],
      [700 * day, 731 * day, day],
    ] as const) {
      const view = expectBody<MetricsView>(await readMetrics(ago, length))
      const from = control.clock.now - ago
      expect([view.range, view.step]).toEqual(['custom', { [minute]: 'minute', [hour]: 'hour', [day]: 'day' }[step]])
      expect(Date.parse(view.from)).toBe(Math.floor(from / step) * step)
      expect(Date.parse(view.to)).toBe(Math.ceil((from + length) / step) * step)
      expect(control.metricsQueries.at(-1)?.filter).toMatchObject({ method: 'eth_call', outcome: 'nodeError' })
    }
    for (const [ago, length, field] of [
      [hour, 0, 'to'],
      [731 * day, 731 * day + 1, 'to'],
      [-1, hour, 'from'],
    ] as const) {
      const response = await readMetrics(ago, length)
      expect([response.status, JSON.parse(response.text)]).toMatchObject([422, { error: { fields: [{ field }] } }])
    }
    const half = { from: new Date(control.clock.now - hour).toISOString() }
    expect((await control.call('GET /api/metrics.csv', { as, query: half })).status).toBe(422)
    const query = { ...half, to: new Date(control.clock.now).toISOString() }
    const csv = await control.call('GET /api/metrics.csv', { as, query })
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="keyrail-account-series-custom.csv"')
  })

  test('for the OpenAPI 3.1 document get what the route table declares', async () => {
    const served = expectBody<ReturnType<typeof openApi>>(await control.raw('/api/openapi.json'))
    expect(served).toEqual(JSON.parse(JSON.stringify(openApi({ publicUrl: control.url }))))
    expect(served['openapi']).toMatch(/^3\.1\./)
    const paths = served['paths'] as Record<
      string,
      Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>
    >
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        path,
        operation,
      })),
    )
    expect(operations.map(({ name }) => name).toSorted()).toEqual([...routeNames].toSorted())
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part)
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(declared.map((parameter) => parameter.name)).toEqual(named)
    }
    const text = JSON.stringify(served)
    const { schemas } = served['components'] as { schemas: object }
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) expect(schemas).toHaveProperty(name)
    expect(text).not.toContain('$defs')
  })
})
