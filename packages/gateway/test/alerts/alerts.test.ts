import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAlerts } from '../../src/alerts/createAlerts.ts'
import type { AlertEvent } from '../../src/alerts/alertEvent.ts'
import type { AlertFailure } from '../../src/alerts/createAlerts.ts'
import type { WebhookRequest, WebhookResult } from '../../src/alerts/sendWebhook.ts'
import { sealKey } from '../../src/lib/secrets/sealKey.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import type { Email } from '../../src/email/mailer.ts'
import { createId } from '../../src/storage/createId.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApp } from '../storage/fill.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const secret = createServerSecret(randomBytes(32).toString('hex'))

describe.each(suiteDatabases)('alerts on $name', (database) => {
  let storage: Storage
  let clock: { now: number }
  let sent: WebhookRequest[]
  let emails: Email[]
  let failures: AlertFailure[]
  let respond: () => WebhookResult
  beforeAll(async () => {
    clock = { now: Date.UTC(2026, 10, 23, 9) }
  })
  beforeEach(async () => {
    storage = await openStorage(await database.create())
    clock.now += day
    ;[sent, emails, failures] = [[], [], []]
    respond = () => ({ ok: true, result: 'HTTP 200' })
    return () => storage.close()
  })
  afterAll(() => database.stop())

  const createJob = (leader = 'one', { isEmailOn = true } = {}) => {
    const accountDays = createAccountDays(storage)
    return createAlerts({
      storage,
      usageLimits: {
        usage: async ({ id, perDay }) => {
          const used = (await accountDays.read([id], getUtcDay(clock.now))).get(id)?.day ?? 0
          const window = { used, limit: perDay, resetAtMs: 0 }
          return { day: window, month: window }
        },
      },
      getPerDay: ({ app, user }) => {
        const limit = (app ?? user).limits?.['perDay']
        return typeof limit === 'number' ? limit : null
      },
      secrets: [secret],
      sendWebhook: async (request) => {
        sent.push(request)
        return respond()
      },
      sendEmail: () => (isEmailOn ? async (email) => void emails.push(email) : undefined),
      describeEmailError: () => 'failed',
      siteUrl: () => 'https://rpc.example.org',
      onEvent: (event) => failures.push(event),
      leader,
      now: () => clock.now,
    })
  }
  const run = (job = createJob()): Promise<void> => job.run(() => false)

  const addUser = async ({
    isVerified = true,
    perDay = 1_000,
  }: { isVerified?: boolean; perDay?: number | null } = {}) => {
    const email = `${createId('usr')}@example.org`
    const user = await storage.users.create({ email, password: 'x', isVerified, now: clock.now })
    if (typeof user === 'string') throw new Error('unreachable')
    await storage.users.setLimits(user.id, { perDay })
    return user
  }
  const addOperator = async () => {
    const user = await addUser()
    await storage.users.setRole(user.id, 'operator')
    return user
  }
  const addWebhook = async (userId: string, allUsers = false): Promise<string> => {
    const owner = { id: createId('whk'), userId }
    const sealed = sealKey('whsec_test', owner, secret)
    const url = `https://hooks.example.org/${owner.id}`
    await storage.webhooks.create({ ...owner, url, allUsers, sealed, createdAt: clock.now, max: 5 })
    return url
  }
  const charge = async (account: string, charged: number, runId = 'run'): Promise<void> => {
    const row = { account, day: getUtcDay(clock.now).day, run: runId, charged }
    await storage.write(createAccountDays(storage).toSteps([row]))
  }
  const events = (): AlertEvent[] => sent.map(({ body }) => JSON.parse(body) as AlertEvent)

  test('80% and 100% of the daily quota of the API keys cause one email and one request each', async () => {
    const user = await addUser()
    const url = await addWebhook(user.id)
    await charge(`user:${user.id}`, 799)
    await run()
    expect([emails, sent]).toEqual([[], []])

    // Two instances of the gateway have counted.
    await charge(`user:${user.id}`, 1, 'other')
    await run()
    await run()
    expect(emails).toMatchObject([{ to: user.email, subject: '80% of the daily quota used: API keys' }])
    expect(emails[0]?.text).toContain('Your API keys together used 800 of 1,000 units today.')
    expect(sent).toMatchObject([{ url, secret: 'whsec_test' }])
    expect(events()).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        type: 'quota.threshold',
        createdAt: new Date(clock.now).toISOString(),
        data: {
          level: 80,
          day: getUtcDay(clock.now).text,
          used: 800,
          limit: 1_000,
          resetsAt: new Date(getUtcDay(clock.now).endMs).toISOString(),
          account: { type: 'apiKeys' },
          user: { id: user.id, email: user.email },
        },
      },
    ])

    await charge(`user:${user.id}`, 999)
    await run()
    await run()
    expect(emails.map(({ subject }) => subject).slice(1)).toEqual(['Daily quota used up: API keys'])
    expect(events().map(({ data }) => data.level)).toEqual([80, 100])

    // The next day starts over.
    clock.now += day
    await charge(`user:${user.id}`, 900)
    await run()
    expect(events().map(({ data }) => data.level)).toEqual([80, 100, 80])
  })

  test('a quota that is used up at once causes only the alert at 100%, also if a higher limit follows', async () => {
    const user = await addUser()
    await addWebhook(user.id)
    await charge(`user:${user.id}`, 1_000)
    await run()
    await storage.users.setLimits(user.id, { perDay: 1_200 })
    await run()
    expect(events().map(({ data }) => data.level)).toEqual([100])
  })

  test('an app has its own quota', async () => {
    const user = await addUser({ perDay: null })
    const { app } = await addApp(storage, { userId: user.id, name: 'Shop <1>' })
    await storage.apps.edit({ id: app.id, userId: user.id, details: { limits: { perDay: 10 } } })
    await charge(`app:${app.id}`, 9)
    await charge(`user:${user.id}`, 1_000_000)
    await run()
    expect(emails).toHaveLength(1)
    expect(emails[0]?.subject).toBe('80% of the daily quota used: Shop <1>')
    expect(emails[0]?.text).toContain(`https://rpc.example.org/apps/${app.id}/metrics`)
    expect(emails[0]?.html).not.toContain('<1>')
  })

  test('operators can get the alerts of all users', async () => {
    const [operator, other, user] = [await addOperator(), await addOperator(), await addUser()]
    await storage.alerts.setEmails(operator.id, { alertEmails: false, alertEmailsAll: true })
    const urls = [await addWebhook(operator.id, true), await addWebhook(user.id)]
    // Neither an operator's webhook for the own account, nor that of a user who is no operator any more.
    await addWebhook(other.id)
    const former = await addUser()
    await addWebhook(former.id, true)
    await charge(`user:${user.id}`, 900)
    await run()
    expect(sent.map(({ url }) => url).toSorted()).toEqual(urls.toSorted())
    expect(emails.map(({ to }) => to).toSorted()).toEqual([operator.email, user.email].toSorted())
    const text = emails.find(({ to }) => to === operator.email)?.text
    expect(text).toContain(`The API keys of ${user.email} used 900`)
    expect(text).toContain(`https://rpc.example.org/operator/users/${user.id}`)
  })

  test('no email goes to an address that is not verified, to users who turned them off, or without a server', async () => {
    const [unverified, off, normal] = [await addUser({ isVerified: false }), await addUser(), await addUser()]
    await storage.alerts.setEmails(off.id, { alertEmails: false, alertEmailsAll: false })
    for (const { id } of [unverified, off, normal]) await charge(`user:${id}`, 900)
    await run(createJob('one', { isEmailOn: false }))
    expect(emails).toEqual([])
    expect(await storage.alerts.listDeliveries({ userId: off.id, limit: 9 })).toEqual([])
    expect(await storage.alerts.listDeliveries({ userId: normal.id, limit: 9 })).toMatchObject([
      { state: 'pending', result: 'emailDisabled' },
    ])
    // Once there is a server, the retry sends it.
    clock.now += minute
    await run()
    expect(emails.map(({ to }) => to)).toEqual([normal.email])
  })

  test('a failed delivery is retried with growing waits, and then given up', async () => {
    const user = await addUser({ isVerified: false })
    await addWebhook(user.id)
    respond = () => ({ ok: false, result: 'HTTP 500' })
    await charge(`user:${user.id}`, 900)
    await run()
    for (const [index, minutes] of [1, 5, 30, 120, 360].entries()) {
      clock.now += minutes * minute - 1
      await run()
      expect(sent).toHaveLength(index + 1)
      clock.now += 1
      await run()
      expect(sent).toHaveLength(index + 2)
    }
    clock.now += 8 * hour
    await run()
    const [delivery] = await storage.alerts.listDeliveries({ userId: user.id, limit: 9 })
    expect(delivery).toMatchObject({ state: 'failed', attempts: 6, result: 'HTTP 500' })
    expect(failures).toEqual([{ event: 'alertFailed', deliveryId: delivery?.id, by: 'webhook', result: 'HTTP 500' }])
    // Each attempt has the same event.
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
  })

  test('a delivery that succeeds at last is not sent again', async () => {
    const user = await addUser({ isVerified: false })
    await addWebhook(user.id)
    respond = () => (sent.length === 1 ? { ok: false, result: 'timeout' } : { ok: true, result: 'HTTP 200' })
    await charge(`user:${user.id}`, 900)
    await run()
    for (let count = 0; count < 5; count += 1) {
      clock.now += hour
      await run()
    }
    expect(sent).toHaveLength(2)
    expect(await storage.alerts.listDeliveries({ userId: user.id, limit: 9 })).toMatchObject([
      { state: 'delivered', attempts: 2, result: 'HTTP 200' },
    ])
  })

  test('eight instances create one alert and send it once, also without the lease', async () => {
    const user = await addUser()
    await addWebhook(user.id)
    await charge(`user:${user.id}`, 900)
    const withoutLease: Storage = { ...storage, write: async () => [[{ id: 1 }]] }
    const leased = storage
    storage = withoutLease
    const jobs = Array.from({ length: 8 }, (_, index) => createJob(`instance-${index}`))
    await Promise.all(jobs.map((job) => run(job)))
    storage = leased
    expect([sent.length, emails.length]).toEqual([1, 1])
  })

  test('one instance at a time looks for alerts; another one takes over after three minutes', async () => {
    const user = await addUser()
    await run(createJob('one'))
    await charge(`user:${user.id}`, 900)
    await run(createJob('two'))
    expect(emails).toEqual([])
    clock.now += 3 * minute
    await run(createJob('two'))
    expect(emails).toHaveLength(1)
  })

  test('deliveries of a removed webhook and of a deleted user end; old ones are pruned', async () => {
    const [user, other] = [await addUser({ isVerified: false }), await addUser({ isVerified: false })]
    await addWebhook(user.id)
    await addWebhook(other.id)
    respond = () => ({ ok: false, result: 'HTTP 500' })
    for (const { id } of [user, other]) await charge(`user:${id}`, 900)
    await run()
    const [webhook] = await storage.webhooks.list(user.id)
    await storage.webhooks.remove({ id: webhook?.id ?? '', userId: user.id })
    clock.now += hour
    await run()
    expect(sent).toHaveLength(3)
    clock.now += 31 * day
    await run()
    expect(await storage.alerts.listDeliveries({ userId: other.id, limit: 9 })).toEqual([])
    await storage.users.remove(other.id)
  })

  test('many accounts are read page by page', async () => {
    const user = await addUser()
    const rows = Array.from({ length: 1_200 }, (_, index) => ({
      account: `app:app_${String(index).padStart(5, '0')}`,
      day: getUtcDay(clock.now).day,
      run: 'run',
      charged: 5,
    }))
    await storage.write(createAccountDays(storage).toSteps(rows))
    await charge(`user:${user.id}`, 900)
    await run()
    expect(emails).toHaveLength(1)
  })
})
