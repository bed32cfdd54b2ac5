import { expect, test } from 'vitest'
import { post } from '../startGateway.ts'
import { startLimitedService } from './startLimitedService.ts'

const chainId = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const unknown = '{"jsonrpc":"2.0","id":1,"method":"eth_nothing"}'
// The clock of the service does not move.
const now = '2026-11-21T12:00:00.000Z'

test('an operator sees calls, failures, events, the config, stores, disks and changes of the instance', async () => {
  const { service, visitor, userId, createApp } = await startLimitedService({})
  const { url } = await createApp()
  await service.accounts.operator.setUserRole({ id: userId, role: 'operator' })
  await post(url, `[${chainId},${chainId},${unknown}]`)
  service.log({ event: 'config', state: 'applied', needsRestart: ['listen'] })
  service.log({ event: 'config', state: 'rejected', faults: ['limits: must be an object'] })
  await visitor.get('DELETE /api/session')
  await visitor.get('POST /api/session', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })

  const { instance, changes, startedAt, degraded } = await visitor.get('GET /api/admin/overview')
  expect({ startedAt, degraded }).toEqual({ startedAt: now, degraded: [] })
  const calls = { from: now, totals: [3], failures: [1] }
  expect(instance).toMatchObject({
    version: 'unknown',
    perSecond: calls,
    perMinute: calls,
    failures: [{ outcome: 'method_not_found', total: 1 }],
    config: { appliedAt: now, rejectedAt: now, faults: 1, needsRestart: ['listen'] },
    stores: [{ name: 'database', isAvailable: true }],
    load: { queuedCalls: 0, databaseWaiting: null, redisPending: null },
    lost: { calls: 0, requests: 0, logLines: 0 },
    disks: [{ of: 'database' }],
    certificateEndsAt: null,
  })
  expect(instance.name).not.toBe('')
  const [disk] = instance.disks
  expect(disk?.freeBytes).toBeGreaterThan(0)
  expect(disk?.totalBytes).toBeGreaterThanOrEqual(disk?.freeBytes ?? Infinity)
  expect(instance.events.filter(({ kind }) => kind === 'config').map(({ state }) => state)).toEqual([
    'rejected',
    'applied',
  ])
  // The log-in is no change.
  expect(changes.map(({ action }) => action)).toEqual(['account.role', 'app.create', 'account.signUp'])
})

test('an operator sees who used most on a day, and the usage of a user', async () => {
  const { service, visitor, userId, createApp, reload } = await startLimitedService({
    limits: { apps: { perDay: 1_000 }, weights: { eth_chainId: 20 } },
  })
  const { id, url } = await createApp()
  await service.accounts.operator.setUserRole({ id: userId, role: 'operator' })
  for (let count = 0; count < 3; count += 1) await post(url, chainId)
  await expect
    .poll(async () => (await visitor.get('GET /api/admin/usage/top')).units, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(60)
  const { units, ...top } = await visitor.get('GET /api/admin/usage/top', { query: '?day=2026-11-21' })
  // Reserved units are included today.
  const account = { userId, userName: 'ann@example.org', units }
  expect(top).toEqual({
    day: '2026-11-21',
    quotas: [{ kind: 'app', id, name: 'Shop', ...account, perDay: 1_000 }],
    accounts: [account],
  })
  expect(await visitor.get('GET /api/admin/usage/top', { query: '?day=2026-11-20' })).toEqual({
    day: '2026-11-20',
    quotas: [],
    accounts: [],
    units: 0,
  })
  const params = { userId }
  await expect
    .poll(async () => (await visitor.get('GET /api/admin/users/{userId}/metrics', { params })).total, {
      timeout: 10_000,
    })
    .toBe(3)
  const { day, limits } = await visitor.get('GET /api/admin/users/{userId}/usage', { params })
  expect([day.used, day.limit, limits.perDay]).toEqual([0, 25_000, 25_000])

  // The limit is that of now.
  await reload({ limits: { apps: { perDay: 500 } } })
  expect((await visitor.get('GET /api/admin/usage/top')).quotas[0]?.perDay).toBe(500)
  const missing = await visitor.request('GET', '/api/admin/users/usr_00000000000000000000/metrics')
  expect(missing.status).toBe(404)
})

test('the status of networks says which of them the account has', async () => {
  const { visitor, createApp } = await startLimitedService({})
  const list = async () =>
    (await visitor.get('GET /api/networks/status')).networks.map(({ network, isOfAccount }) => [network, isOfAccount])
  expect(await list()).toEqual([
    ['testnet', false],
    ['mainnet', false],
  ])
  await visitor.get('POST /api/keys', { body: { name: 'Laptop', network: 'mainnet' } })
  expect(await list()).toEqual([
    ['testnet', false],
    ['mainnet', true],
  ])
  await createApp()
  expect(await list()).toEqual([
    ['testnet', true],
    ['mainnet', true],
  ])
})
