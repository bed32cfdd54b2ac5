import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { AlertRules } from '../../src/storage/tables.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApp } from '../storage/fill.ts'
import { minute, openAlertsFixture } from './alertsFixture.ts'
import type { AlertsFixture } from './alertsFixture.ts'

const rules: AlertRules = { errorPercent: 10, latencyMs: 500, minutes: 15, minCalls: 20 }

describe.each(suiteDatabases)('alerts about calls on $name', (database) => {
  let at: AlertsFixture
  beforeEach(async () => {
    at = await openAlertsFixture(await database.create())
    return () => at.storage.close()
  })
  afterAll(() => database.stop())

  /** Counts calls as the gateway does, in the current minute. */
  const call = async (
    { userId, appId }: { userId: string; appId?: string },
    { failed = 0, succeeded = 0, ms = 10 }: { failed?: number; succeeded?: number; ms?: number },
  ): Promise<void> => {
    const meter = createMeter({ storage: at.storage, rollUpMs: 0, now: () => at.clock.now })
    const key = { id: `key_${appId ?? userId}`, appId, userId }
    for (let count = 0; count < failed; count += 1) meter.count(key, 'mainnet', 'eth_call', 'rate_limited', undefined)
    for (let count = 0; count < succeeded; count += 1) meter.count(key, 'mainnet', 'eth_call', 'succeeded', ms)
    await meter.close()
  }
  const addOwner = async (given: Partial<AlertRules> = {}) => {
    const user = await at.addUser({ perDay: null })
    await at.addWebhook(user.id)
    await at.storage.alerts.setRules(user.id, { ...rules, ...given }, at.clock.now)
    const { app } = await addApp(at.storage, { userId: user.id, name: 'Shop' })
    return { user, app, ids: { userId: user.id, appId: app.id } }
  }
  const types = (): string[] => at.events().map(({ type }) => type)

  test('failed calls of an app cause one alert when they start, and one when they are over', async () => {
    const { user, app, ids } = await addOwner()
    await call(ids, { failed: 2, succeeded: 20 })
    await at.run()
    expect(at.emails).toEqual([])

    at.clock.now += minute
    await call(ids, { failed: 2, succeeded: 10 })
    const startedAt = new Date(at.clock.now).toISOString()
    await at.run()
    await at.run()
    expect(at.emails).toMatchObject([{ to: user.email, subject: 'Many failed calls: Shop' }])
    expect(at.emails[0]?.text).toContain('The app "Shop": 11.8% of 34 calls in the last 15 minutes failed')
    expect(at.emails[0]?.text).toContain(`https://rpc.example.org/apps/${app.id}/metrics`)
    expect(at.events()).toEqual([
      {
        type: 'errors.started',
        timestamp: startedAt,
        data: {
          value: 11.8,
          threshold: 10,
          minutes: 15,
          calls: 34,
          startedAt,
          resolvedAt: null,
          account: { type: 'app', id: app.id, name: 'Shop' },
          user: { id: user.id, email: user.email },
        },
      },
    ])

    // 9.1% is below the threshold, but too near.
    await call(ids, { succeeded: 10 })
    at.clock.now += minute
    await at.run()
    expect(types()).toHaveLength(1)
    await call(ids, { succeeded: 20 })
    await at.run()
    await at.run()
    expect(types()).toEqual(['errors.started', 'errors.resolved'])
    expect(at.emails[1]?.subject).toBe('Resolved: Many failed calls: Shop')
    expect(at.events()[1]?.data).toMatchObject({ startedAt, resolvedAt: new Date(at.clock.now).toISOString() })
  })

  test('a value that rises and falls causes an alert once in the minutes of the rule', async () => {
    const { ids } = await addOwner({ minutes: 5 })
    const rise = async (): Promise<void> => {
      await call(ids, { failed: 20 })
      await at.run()
    }
    await rise()
    at.clock.now += minute
    await call(ids, { succeeded: 500 })
    await at.run()
    expect(types()).toEqual(['errors.started', 'errors.resolved'])
    await call(ids, { failed: 400 })
    await at.run()
    expect(types()).toHaveLength(2)
    at.clock.now += 5 * minute
    await rise()
    expect(types()).toEqual(['errors.started', 'errors.resolved', 'errors.started'])
  })

  test('one of one call that failed is no alert', async () => {
    const { ids } = await addOwner({ minCalls: 20 })
    await call(ids, { failed: 19 })
    await at.run()
    expect(types()).toEqual([])
    await call(ids, { failed: 1 })
    await at.run()
    expect(types()).toEqual(['errors.started'])
  })

  test('an alert is resolved once there are too few calls to tell', async () => {
    const { ids } = await addOwner({ minutes: 5 })
    await call(ids, { failed: 20 })
    await at.run()
    at.clock.now += 4 * minute
    await call(ids, { failed: 10 })
    at.clock.now += minute
    await at.run()
    expect(types()).toEqual(['errors.started'])
    at.clock.now += 3 * minute
    await call(ids, { failed: 9 })
    at.clock.now += minute
    await at.run()
    expect(at.events()).toMatchObject([{}, { type: 'errors.resolved', data: { value: 100, calls: 9 } }])
  })

  test('an alert is resolved once there are no more calls', async () => {
    const { ids } = await addOwner()
    await call(ids, { failed: 20 })
    await at.run()
    at.clock.now += 14 * minute
    await at.run()
    expect(types()).toEqual(['errors.started'])
    at.clock.now += minute
    await at.run()
    expect(types()).toEqual(['errors.started', 'errors.resolved'])
    expect(at.events()[1]?.data).toMatchObject({ value: 0, calls: 0 })
  })

  test('slow calls of API keys cause an alert, apart from the errors of an app', async () => {
    const { user, ids } = await addOwner()
    await call({ userId: user.id }, { succeeded: 18, ms: 10 })
    await call(ids, { succeeded: 30, ms: 100 })
    await at.run()
    expect(types()).toEqual([])
    await call({ userId: user.id }, { succeeded: 20, ms: 2_000 })
    await at.run()
    expect(at.events()).toMatchObject([
      { type: 'latency.started', data: { account: { type: 'apiKeys' }, threshold: 500, calls: 38 } },
    ])
    const [event] = at.events() as readonly { readonly data: { readonly value: number } }[]
    expect(event?.data.value).toBeGreaterThan(1_600)
    expect(at.emails[0]?.text).toMatch(/Your API keys together: 5% of 38 calls in the last 15 minutes took [\d,.]+ ms/)
  })

  test('accounts without rules get no alert, and a rule that is turned off forgets its alerts', async () => {
    const { user, ids } = await addOwner({ errorPercent: null, latencyMs: null })
    await call(ids, { failed: 50 })
    await at.run()
    expect(types()).toEqual([])
    await at.storage.alerts.setRules(user.id, rules, at.clock.now)
    await at.run()
    expect(types()).toEqual(['errors.started'])
    await at.storage.alerts.setRules(user.id, { ...rules, errorPercent: null }, at.clock.now)
    at.clock.now += 20 * minute
    await at.run()
    expect(types()).toEqual(['errors.started'])
    expect(await at.storage.alerts.listStarted(user.id)).toEqual([])
  })

  test('a rule that is turned off and on again sends nothing for its quiet time', async () => {
    const { user, ids } = await addOwner()
    await call(ids, { failed: 50 })
    await at.run()
    for (let i = 0; i < 3; i++) {
      await at.storage.alerts.setRules(user.id, { ...rules, errorPercent: null, latencyMs: null }, at.clock.now)
      await at.storage.alerts.setRules(user.id, rules, at.clock.now)
      at.clock.now += minute
      await call(ids, { failed: 50 })
      await at.run()
    }
    expect(types()).toEqual(['errors.started'])
  })

  test('an account whose calls cannot be read keeps no other one from its alerts', async () => {
    const first = await addOwner()
    const second = await addOwner()
    await call(first.ids, { failed: 50 })
    await call(second.ids, { failed: 50 })
    const [failing] = [first.user.id, second.user.id].toSorted()
    at.failReads = failing
    await expect(at.run()).rejects.toThrow('cannot be read')
    at.failReads = undefined
    const left = [first, second].filter(({ user }) => user.id !== failing).map(({ user }) => user.id)
    const started = await Promise.all([first, second].map(({ user }) => at.storage.alerts.listStarted(user.id)))
    expect(started.flat().map(({ userId }) => userId)).toEqual(left)
  })

  test('the alert of a deleted app is forgotten', async () => {
    const { user, app, ids } = await addOwner()
    await call(ids, { failed: 50 })
    await at.run()
    await at.storage.apps.remove({ id: app.id, userId: user.id, now: at.clock.now })
    at.clock.now += 20 * minute
    await at.run()
    expect(types()).toEqual(['errors.started'])
    expect(await at.storage.alerts.listStarted(user.id)).toEqual([])
  })

  test('eight instances start and resolve one alert, also without the lease', async () => {
    const { ids } = await addOwner()
    const { storage } = at
    at.storage = { ...storage, write: async () => [[{ id: 1 }]] }
    const jobs = Array.from({ length: 8 }, (_, index) => at.createJob(`instance-${index}`))
    at.storage = storage
    await call(ids, { failed: 50 })
    await Promise.all(jobs.map((job) => at.run(job)))
    expect(types()).toEqual(['errors.started'])
    at.clock.now += 20 * minute
    await Promise.all(jobs.map((job) => at.run(job)))
    expect(types()).toEqual(['errors.started', 'errors.resolved'])
    expect(at.emails).toHaveLength(2)
  })
})
