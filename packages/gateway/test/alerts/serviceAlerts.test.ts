import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Problem } from '../../src/alerts/findProblems.ts'
import { StorageError } from '../../src/errors/storageError.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { minute, openAlertsFixture, webhookSecret } from './alertsFixture.ts'
import type { AlertsFixture } from './alertsFixture.ts'

const nothing = { share: null, expiresAt: null }
const network: Problem = { ...nothing, kind: 'network', subject: 'mainnet' }
const redis: Problem = { ...nothing, kind: 'store', subject: 'redis' }
const database: Problem = { ...nothing, kind: 'store', subject: 'database' }
const disk: Problem = { ...nothing, kind: 'disk', subject: 'database', share: 0.03 }
const certificate: Problem = {
  ...nothing,
  kind: 'certificate',
  subject: 'service',
  expiresAt: '2026-12-01T10:00:00.000Z',
}
const errors: Problem = { ...nothing, kind: 'errors', subject: 'service', share: 0.125 }
const all = [redis, network, disk, certificate, errors]

describe.each(suiteDatabases)('alerts about the service on $name', (kind) => {
  let at: AlertsFixture
  beforeEach(async () => {
    at = await openAlertsFixture(await kind.create())
    return () => at.storage.close()
  })
  afterAll(() => kind.stop())

  type Job = ReturnType<AlertsFixture['createJob']>
  /** Runs jobs every 30 seconds, as the service does. */
  const runFor = async (minutes: number, ...jobs: readonly Job[]): Promise<void> => {
    for (let half = 0; half < minutes * 2; half += 1) {
      at.clock.now += minute / 2
      for (const job of jobs) await at.run(job).catch(() => {})
    }
  }
  const types = (): string[] => at.events().map(({ type }) => type)

  test('operators get one alert when a problem lasts a minute, and one when it is gone for five', async () => {
    const [operator, user] = [await at.addOperator(), await at.addUser()]
    const url = await at.addWebhook(operator.id, { aboutService: true })
    await at.addWebhook(operator.id)
    await at.addWebhook(user.id, { aboutService: true })
    const job = at.createJob()
    at.problems = [network]
    await at.run(job)
    await runFor(0.5, job)
    expect(at.emails).toEqual([])
    await runFor(3, job)
    expect(at.emails).toMatchObject([{ to: operator.email, subject: 'mainnet has no healthy node' }])
    expect(at.emails[0]?.text).toContain('https://rpc.example.org/operator/upstreams')
    expect(at.sent).toMatchObject([{ url, secrets: [webhookSecret] }])
    const startedAt = new Date(at.clock.now - 2.5 * minute).toISOString()
    const data = { ...network, instance: 'host-one', startedAt, resolvedAt: null }
    expect(at.events()).toEqual([{ type: 'problem.started', timestamp: startedAt, data }])

    // It comes back in between.
    at.problems = []
    await runFor(4, job)
    at.problems = [network]
    await runFor(4, job)
    at.problems = []
    await runFor(5, job)
    expect(types()).toEqual(['problem.started'])
    await runFor(0.5, job)
    await runFor(5, job)
    expect(types()).toEqual(['problem.started', 'problem.resolved'])
    expect(at.events()[1]?.data).toMatchObject({ kind: 'network', subject: 'mainnet', startedAt })
    expect(at.emails[1]?.subject).toBe('Resolved: mainnet has no healthy node')
  })

  test('each kind of problem has an email that says what it is', async () => {
    await at.addOperator()
    const job = at.createJob()
    at.problems = all
    await at.run(job)
    await runFor(1, job)
    const texts = at.emails.map(({ subject, text }) => [subject, text.split('\n', 1)[0]])
    expect(texts).toHaveLength(all.length)
    expect(texts).toEqual(
      expect.arrayContaining([
        ['Redis is unavailable', expect.stringContaining('host-one cannot write to Redis')],
        ['mainnet has no healthy node', expect.stringContaining('Calls to mainnet fail')],
        ['The disk of the database on host-one is nearly full', '3% of it is free.'],
        ['The certificate expires soon', expect.stringContaining('2026-12-01 10:00 UTC')],
        ['Many calls fail because of nodes', expect.stringContaining('12.5% of the calls of the last 5 minutes')],
      ]),
    )
  })

  test('of several instances one reports what all see, and each its own disk', async () => {
    await at.addOperator()
    const jobs = ['one', 'two', 'three'].map((name) => at.createJob(name))
    at.problems = [network, disk]
    await runFor(3, ...jobs)
    const disks = ['one', 'two', 'three'].map((name) => `The disk of the database on host-${name} is nearly full`)
    const network_ = 'mainnet has no healthy node'
    expect(at.emails.map(({ subject }) => subject).toSorted()).toEqual([...disks, network_].toSorted())
    // The leader stops, and its host with it. Another one takes over, and reports no problem again.
    at.emails = []
    await runFor(5, ...jobs.slice(1))
    expect(at.emails).toEqual([])
    at.problems = []
    await runFor(6, ...jobs.slice(1))
    expect(at.emails.map(({ subject }) => subject).toSorted()).toEqual(
      [...disks.slice(1), network_].map((subject) => `Resolved: ${subject}`).toSorted(),
    )
  })

  test('operators who turned the emails off get none, and neither does a former operator', async () => {
    const [off, former] = [await at.addOperator(), await at.addOperator()]
    await at.storage.alerts.setEmails(off.id, { alertEmails: true, alertEmailsAll: true, alertEmailsService: false })
    await at.addWebhook(former.id, { aboutService: true })
    await at.storage.users.setRole(former.id, 'user')
    const job = at.createJob()
    at.problems = all
    await runFor(2, job)
    expect([at.emails, at.sent]).toEqual([[], []])
  })

  describe('without the database', () => {
    /** @returns Restores it. */
    const lose = (): (() => void) => {
      const { storage } = at
      const { write } = storage
      const reject = async (): Promise<never> => {
        throw new StorageError('the database is unavailable', { fault: 'unavailable' })
      }
      // The jobs have this object.
      Object.assign(storage, { write: reject })
      at.problems = [database]
      return () => {
        Object.assign(storage, { write })
        at.problems = []
      }
    }

    test('the instance that had the lease reports the loss, and its end', async () => {
      const operator = await at.addOperator()
      const url = await at.addWebhook(operator.id, { aboutService: true })
      const jobs = ['one', 'two'].map((name) => at.createJob(name))
      // The other instance had the lease before.
      await runFor(1, ...jobs.slice(1))
      at.clock.now += 3 * minute
      await runFor(1, ...jobs)
      const restore = lose()
      at.respond = () => ({ ok: at.sent.length > 2, result: 'HTTP 500' })
      await runFor(10, ...jobs)
      expect(at.emails).toMatchObject([{ to: operator.email, subject: 'The database is unavailable' }])
      // Two attempts failed, and had the same id and body.
      expect(at.sent).toHaveLength(3)
      expect(at.sent).toMatchObject([{ url, secrets: [webhookSecret] }, at.sent[0], at.sent[0]])
      expect(at.events()[0]).toMatchObject({ type: 'problem.started', data: { kind: 'store', subject: 'database' } })
      restore()
      await runFor(6, ...jobs)
      expect(at.emails.map(({ subject }) => subject).slice(1)).toEqual(['Resolved: The database is unavailable'])
      expect(types().slice(3)).toEqual(['problem.resolved'])
    })

    test('a database that only the checks fail for is reported once', async () => {
      await at.addOperator()
      const job = at.createJob()
      await at.run(job)
      at.problems = [database]
      await runFor(3, job)
      expect(at.emails.map(({ subject }) => subject)).toEqual(['The database is unavailable'])
    })

    test('a short loss causes no alert', async () => {
      await at.addOperator()
      const job = at.createJob()
      await at.run(job)
      const restore = lose()
      await runFor(1, job)
      restore()
      await runFor(10, job)
      expect(at.emails).toEqual([])
    })
  })
})
