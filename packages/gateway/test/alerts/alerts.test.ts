import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { sealKey } from '../../src/lib/secrets/sealKey.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { migrate } from '../../src/storage/migration/migrate.ts'
import { migrations } from '../../src/storage/migration/migrations.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApp, granted } from '../storage/fill.ts'
import { openRaw } from '../storage/openRaw.ts'
import { day, hour, minute, openAlertsFixture, secret, webhookSecret } from './alertsFixture.ts'
import type { AlertsFixture } from './alertsFixture.ts'

const noEmails = { alertEmails: false, alertEmailsAll: false, alertEmailsService: false }

describe.each(suiteDatabases)('alerts on $name', (database) => {
  let at: AlertsFixture
  beforeEach(async () => {
    at = await openAlertsFixture(await database.create())
    return () => at.storage.close()
  })
  afterAll(() => database.stop())

  const levels = (): unknown[] => at.events().map(({ data }) => (data as { readonly level: number }).level)

  test('80% and 100% of the daily quota of the API keys cause one email and one request each', async () => {
    const user = await at.addUser()
    const url = await at.addWebhook(user.id)
    await at.charge(`user:${user.id}`, 799)
    await at.run()
    expect([at.emails, at.sent]).toEqual([[], []])

    // Two instances of the gateway have counted.
    await at.charge(`user:${user.id}`, 1, 'other')
    await at.run()
    await at.run()
    expect(at.emails).toMatchObject([{ to: user.email, subject: '80% of the daily quota used: API keys' }])
    expect(at.emails[0]?.text).toContain('Your API keys together used 800 of 1,000 units today.')
    expect(at.sent).toMatchObject([{ url, id: expect.stringMatching(/^evt_/) as unknown, secrets: [webhookSecret] }])
    expect(at.events()).toEqual([
      {
        type: 'quota.threshold',
        timestamp: new Date(at.clock.now).toISOString(),
        data: {
          level: 80,
          day: getUtcDay(at.clock.now).text,
          used: 800,
          limit: 1_000,
          resetsAt: new Date(getUtcDay(at.clock.now).endMs).toISOString(),
          account: { type: 'apiKeys' },
          user: { id: user.id, email: user.email },
        },
      },
    ])

    await at.charge(`user:${user.id}`, 999)
    await at.run()
    await at.run()
    expect(at.emails.map(({ subject }) => subject).slice(1)).toEqual(['Daily quota used up: API keys'])
    expect(levels()).toEqual([80, 100])

    // The next day starts over.
    at.clock.now += day
    await at.charge(`user:${user.id}`, 900)
    await at.run()
    expect(levels()).toEqual([80, 100, 80])
  })

  test('a quota that is used up at once causes only the alert at 100%, also if a higher limit follows', async () => {
    const user = await at.addUser()
    await at.addWebhook(user.id)
    await at.charge(`user:${user.id}`, 1_000)
    await at.run()
    await at.storage.users.setLimits(user.id, { perDay: 1_200 })
    await at.run()
    expect(levels()).toEqual([100])
  })

  test('an app has its own quota', async () => {
    const user = await at.addUser({ perDay: null })
    const { app } = await addApp(at.storage, { userId: user.id, name: 'Shop <1>' })
    await at.storage.apps.edit({ id: app.id, userId: user.id, details: { limits: { perDay: 10 } } })
    await at.charge(`app:${app.id}`, 9)
    await at.charge(`user:${user.id}`, 1_000_000)
    await at.run()
    expect(at.emails).toHaveLength(1)
    expect(at.emails[0]?.subject).toBe('80% of the daily quota used: Shop <1>')
    expect(at.emails[0]?.text).toContain(`https://rpc.example.org/apps/${app.id}/metrics`)
    expect(at.emails[0]?.html).not.toContain('<1>')
  })

  test('operators can get the alerts of all users', async () => {
    const [operator, other, user] = [await at.addOperator(), await at.addOperator(), await at.addUser()]
    await at.storage.alerts.setEmails(operator.id, { ...noEmails, alertEmailsAll: true })
    const urls = [await at.addWebhook(operator.id, { allUsers: true }), await at.addWebhook(user.id)]
    // Neither an operator's webhook for the own account, nor that of a user who is no operator any more.
    await at.addWebhook(other.id)
    const former = await at.addUser()
    await at.addWebhook(former.id, { allUsers: true })
    await at.charge(`user:${user.id}`, 900)
    await at.run()
    expect(at.sent.map(({ url }) => url).toSorted()).toEqual(urls.toSorted())
    expect(at.emails.map(({ to }) => to).toSorted()).toEqual([operator.email, user.email].toSorted())
    const text = at.emails.find(({ to }) => to === operator.email)?.text
    expect(text).toContain(`The API keys of ${user.email} used 900`)
    expect(text).toContain(`https://rpc.example.org/operator/users/${user.id}`)
  })

  test('no email goes to an address that is not verified, to users who turned them off, or without a server', async () => {
    const [unverified, off, normal] = [await at.addUser({ isVerified: false }), await at.addUser(), await at.addUser()]
    await at.storage.alerts.setEmails(off.id, noEmails)
    for (const { id } of [unverified, off, normal]) await at.charge(`user:${id}`, 900)
    await at.run(at.createJob('one', { isEmailOn: false }))
    expect(at.emails).toEqual([])
    expect(await at.storage.alerts.listDeliveries({ userId: off.id, limit: 9 })).toEqual([])
    expect(await at.storage.alerts.listDeliveries({ userId: normal.id, limit: 9 })).toMatchObject([
      { state: 'pending', result: 'emailDisabled' },
    ])
    // Once there is a server, the retry sends it.
    at.clock.now += minute
    await at.run()
    expect(at.emails.map(({ to }) => to)).toEqual([normal.email])
  })

  test('a failed delivery is retried with growing waits, and then given up', async () => {
    const user = await at.addUser({ isVerified: false })
    await at.addWebhook(user.id)
    at.respond = () => ({ ok: false, result: 'HTTP 500' })
    await at.charge(`user:${user.id}`, 900)
    await at.run()
    for (const [index, minutes] of [1, 5, 30, 120, 360].entries()) {
      at.clock.now += minutes * minute - 1
      await at.run()
      expect(at.sent).toHaveLength(index + 1)
      at.clock.now += 1
      await at.run()
      expect(at.sent).toHaveLength(index + 2)
    }
    at.clock.now += 8 * hour
    await at.run()
    const [delivery] = await at.storage.alerts.listDeliveries({ userId: user.id, limit: 9 })
    expect(delivery).toMatchObject({ state: 'failed', attempts: 6, result: 'HTTP 500' })
    expect(at.failures).toEqual([{ event: 'alertFailed', deliveryId: delivery?.id, by: 'webhook', result: 'HTTP 500' }])
    // Each attempt has the same event.
    expect(new Set(at.sent.map(({ id, body }) => `${id} ${body}`)).size).toBe(1)
  })

  test('a delivery that succeeds at last is not sent again', async () => {
    const user = await at.addUser({ isVerified: false })
    await at.addWebhook(user.id)
    at.respond = () => (at.sent.length === 1 ? { ok: false, result: 'timeout' } : { ok: true, result: 'HTTP 200' })
    await at.charge(`user:${user.id}`, 900)
    await at.run()
    for (let count = 0; count < 5; count += 1) {
      at.clock.now += hour
      await at.run()
    }
    expect(at.sent).toHaveLength(2)
    expect(await at.storage.alerts.listDeliveries({ userId: user.id, limit: 9 })).toMatchObject([
      { state: 'delivered', attempts: 2, result: 'HTTP 200' },
    ])
  })

  test('eight instances create one alert and send it once, also without the lease', async () => {
    const user = await at.addUser()
    await at.addWebhook(user.id)
    await at.charge(`user:${user.id}`, 900)
    const withoutLease: Storage = { ...at.storage, write: async () => [[{ id: 1 }]] }
    const leased = at.storage
    at.storage = withoutLease
    const jobs = Array.from({ length: 8 }, (_, index) => at.createJob(`instance-${index}`))
    await Promise.all(jobs.map((job) => at.run(job)))
    at.storage = leased
    expect([at.sent.length, at.emails.length]).toEqual([1, 1])
  })

  test('one instance at a time looks for alerts; another one takes over after three minutes', async () => {
    const user = await at.addUser()
    await at.run(at.createJob('one'))
    await at.charge(`user:${user.id}`, 900)
    await at.run(at.createJob('two'))
    expect(at.emails).toEqual([])
    at.clock.now += 3 * minute
    await at.run(at.createJob('two'))
    expect(at.emails).toHaveLength(1)
  })

  test('deliveries of a removed webhook and of a deleted user end; old ones are pruned', async () => {
    const [user, other] = [await at.addUser({ isVerified: false }), await at.addUser({ isVerified: false })]
    await at.addWebhook(user.id)
    await at.addWebhook(other.id)
    at.respond = () => ({ ok: false, result: 'HTTP 500' })
    for (const { id } of [user, other]) await at.charge(`user:${id}`, 900)
    await at.run()
    const [webhook] = await at.storage.webhooks.list(user.id)
    await at.storage.webhooks.remove({ id: webhook?.id ?? '', userId: user.id })
    at.clock.now += hour
    await at.run()
    expect(at.sent).toHaveLength(3)
    at.clock.now += 31 * day
    await at.run()
    expect(await at.storage.alerts.listDeliveries({ userId: other.id, limit: 9 })).toEqual([])
    await at.storage.users.remove(other.id)
  })

  test('a former operator gets nothing that is still queued', async () => {
    const operator = await at.addOperator()
    await at.addWebhook(operator.id, { allUsers: true })
    at.respond = () => ({ ok: false, result: 'HTTP 500' })
    const user = await at.addUser()
    await at.charge(`user:${user.id}`, 1_000)
    await at.run()
    expect(at.sent).toHaveLength(1)
    await at.storage.users.setRole(operator.id, 'user')
    at.clock.now += minute
    await at.run()
    at.clock.now += day
    await at.run()
    expect(at.sent).toHaveLength(1)
    expect(at.failures).toMatchObject([{ event: 'alertFailed', by: 'webhook', result: 'removed' }])
  })

  test('a member who is not an owner or admin any more gets no queued email', async () => {
    const [owner, admin] = [await at.addUser(), await at.addUser()]
    const { members, alerts, teams } = at.storage
    const { now } = at.clock
    const accountId = granted(await teams.create({ name: 'Team', createdBy: owner.id, max: 10, now })).id
    await members.add({ accountId, userId: admin.id, role: 'admin', now })
    const { text, endMs } = getUtcDay(now)
    const data = {
      level: 80,
      day: text,
      used: 80,
      limit: 100,
      resetsAt: new Date(endMs).toISOString(),
      account: { type: 'apiKeys' },
      user: { id: accountId, email: 'x' },
    }
    const event = JSON.stringify({ id: 'evt_1', type: 'quota.threshold', createdAt: '2026-11-23T08:59:00.000Z', data })
    for (const role of ['admin', 'viewer'] as const) {
      await members.setRole({ accountId, userId: admin.id, role })
      await alerts.addDelivery({ userId: admin.id, webhookId: null, event, now })
      await at.run()
    }
    expect(at.emails.map(({ to }) => to)).toEqual([admin.email])
  })

  test('an account with many deliveries delays no other one', async () => {
    const [busy, other] = [await at.addUser(), await at.addUser()]
    const { alerts } = at.storage
    for (let i = 0; i < 30; i++) await alerts.addDelivery({ userId: busy.id, webhookId: null, event: '{}', now: i })
    await alerts.addDelivery({ userId: other.id, webhookId: null, event: '{}', now: 50 })
    const due = await alerts.takeDue({ now: 100, retryAt: 1_000, limit: 20 })
    expect(due.map(({ userId }) => userId)).toContain(other.id)
    expect(due).toHaveLength(20)
  })

  test('many accounts are read page by page', async () => {
    const user = await at.addUser()
    const rows = Array.from({ length: 1_200 }, (_, index) => ({
      account: `app:app_${String(index).padStart(5, '0')}`,
      day: getUtcDay(at.clock.now).day,
      run: 'run',
      charged: 5,
    }))
    await at.storage.write(createAccountDays(at.storage).toSteps(rows))
    await at.charge(`user:${user.id}`, 900)
    await at.run()
    expect(at.emails).toHaveLength(1)
  })

  test('webhooks and deliveries of version 23 go on, with the same secret', async () => {
    const options = await database.create()
    const old = `whsec_${randomBytes(32).toString('base64url')}`
    const { db, close } = await openRaw(options)
    await migrate(db, { migrations: migrations.slice(0, 23) })
    await sql`insert into users (id, email, email_folded, password, state, role, created_at)
      values ('usr_1', 'ann@example.org', 'ann@example.org', 'x', 'active', 'user', 0)`.execute(db.query)
    const sealed = sealKey(old, { id: 'whk_1', userId: 'usr_1' }, secret)
    await sql`insert into webhooks (id, user_id, url, all_users, sealed, created_at)
      values ('whk_1', 'usr_1', 'https://hooks.example.org/', 0, ${sealed}, 0)`.execute(db.query)
    const data = { level: 80, used: 80, limit: 100, account: { type: 'apiKeys' }, user: { id: 'usr_1', email: 'x' } }
    const event = JSON.stringify({ id: 'evt_1', type: 'quota.threshold', createdAt: '2026-11-23T08:59:00.000Z', data })
    await sql`insert into alert_deliveries (id, user_id, webhook_id, event, state, attempts, created_at, next_attempt_at)
      values ('dlv_1', 'usr_1', 'whk_1', ${event}, 'pending', 1, ${Date.parse('2026-11-23T08:59:00.000Z')}, 0)`.execute(
      db.query,
    )
    await close()
    await at.storage.close()
    at = await openAlertsFixture(options)
    await at.run()
    expect(at.sent).toMatchObject([{ url: 'https://hooks.example.org/', id: 'evt_1', secrets: [old] }])
    expect(at.events()).toEqual([{ type: 'quota.threshold', timestamp: '2026-11-23T08:59:00.000Z', data }])
  })
})
