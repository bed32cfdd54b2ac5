import { randomBytes } from 'node:crypto'
import type { AlertEvent } from '../../src/alerts/alertEvent.ts'
import type { AlertFailure } from '../../src/alerts/alertsOptions.ts'
import { createAlerts } from '../../src/alerts/createAlerts.ts'
import type { Problem } from '../../src/alerts/findProblems.ts'
import type { WebhookRequest, WebhookResult } from '../../src/alerts/sendWebhook.ts'
import type { Email } from '../../src/email/mailer.ts'
import { sealKey } from '../../src/lib/secrets/sealKey.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { ServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import { createId } from '../../src/storage/createId.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import type { User } from '../../src/storage/users.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createReadRecentCalls } from '../../src/usage/metering/createReadRecentCalls.ts'
import { granted } from '../storage/fill.ts'

export const minute = 60_000
export const hour: number = 60 * minute
export const day: number = 24 * hour

/** Encrypts the secrets of webhooks. */
export const secret: ServerSecret = createServerSecret(randomBytes(32).toString('hex'))
export const webhookSecret = 'whsec_dGVzdA=='

type Job = ReturnType<typeof createAlerts>

/** A database, what jobs on it have sent, and what they find. */
export interface AlertsFixture {
  storage: Storage
  readonly clock: { now: number }
  sent: WebhookRequest[]
  emails: Email[]
  failures: AlertFailure[]
  /** What webhooks respond. */
  respond: () => WebhookResult
  /** The problems of the service. */
  problems: readonly Problem[]
  /** The account whose calls cannot be read. */
  failReads: string | undefined
  readonly createJob: (leader?: string, options?: { isEmailOn?: boolean }) => Job
  readonly run: (job?: Job) => Promise<void>
  readonly addUser: (options?: { isVerified?: boolean; perDay?: number | null }) => Promise<User>
  readonly addOperator: () => Promise<User>
  /** @returns Its URL. */
  readonly addWebhook: (userId: string, flags?: { allUsers?: boolean; aboutService?: boolean }) => Promise<string>
  readonly charge: (account: string, charged: number, runId?: string) => Promise<void>
  /** What webhooks got. */
  readonly events: () => readonly (Pick<AlertEvent, 'type'> & { readonly timestamp: string; readonly data: unknown })[]
}

/** Opens the fixture on an empty database. */
export const openAlertsFixture = async (location: Parameters<typeof openStorage>[0]): Promise<AlertsFixture> => {
  const clock = { now: Date.UTC(2026, 10, 23, 9) }
  const fixture: AlertsFixture = {
    storage: await openStorage(location),
    clock,
    sent: [],
    emails: [],
    failures: [],
    respond: () => ({ ok: true, result: 'HTTP 200' }),
    problems: [],
    failReads: undefined,
    createJob: (leader = 'one', { isEmailOn = true } = {}) => {
      const { storage } = fixture
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
        readRecentCalls: async (query) => {
          if (query.userId === fixture.failReads) throw new Error('These calls cannot be read')
          return createReadRecentCalls({ storage })(query)
        },
        readProblems: async () => fixture.problems,
        secrets: [secret],
        sendWebhook: async (request) => {
          fixture.sent.push(request)
          return fixture.respond()
        },
        sendEmail: () => (isEmailOn ? async (email) => void fixture.emails.push(email) : undefined),
        describeEmailError: () => 'failed',
        siteUrl: () => 'https://rpc.example.org',
        onEvent: (event) => fixture.failures.push(event),
        leader,
        instance: `host-${leader}`,
        now: () => clock.now,
      })
    },
    run: async (job = fixture.createJob()) => {
      await job.find(() => false)
      await job.deliver(() => false)
    },
    addUser: async ({ isVerified = true, perDay = 1_000 } = {}) => {
      const email = `${createId('usr')}@example.org`
      const { users } = fixture.storage
      const user = granted(await users.create({ email, password: 'x', isVerified, now: clock.now }))
      await users.setLimits(user.id, { perDay })
      return user
    },
    addOperator: async () => {
      const user = await fixture.addUser()
      await fixture.storage.users.setRole(user.id, 'operator')
      return user
    },
    addWebhook: async (userId, { allUsers = false, aboutService = false } = {}) => {
      const owner = { id: createId('whk'), userId }
      const sealed = sealKey(webhookSecret, owner, secret)
      const url = `https://hooks.example.org/${owner.id}`
      await fixture.storage.webhooks.create({
        ...owner,
        url,
        allUsers,
        aboutService,
        sealed,
        createdAt: clock.now,
        max: 5,
      })
      return url
    },
    charge: async (account, charged, runId = 'run') => {
      const row = { account, day: getUtcDay(clock.now).day, run: runId, charged }
      await fixture.storage.write(createAccountDays(fixture.storage).toSteps([row]))
    },
    events: () => fixture.sent.map(({ body }) => JSON.parse(body) as ReturnType<AlertsFixture['events']>[number]),
  }
  return fixture
}
