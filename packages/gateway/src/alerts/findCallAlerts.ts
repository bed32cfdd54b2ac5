import { floorTo, minuteMs } from '../lib/time.ts'
import type { AccountRules, AlertState } from '../storage/alertStates.ts'
import { createId } from '../storage/createId.ts'
import type { AlertRules } from '../storage/tables.ts'
import type { RecentCalls } from '../usage/metering/createReadRecentCalls.ts'
import type { AlertAccount, CallAlertKind, CallsEvent } from './alertEvent.ts'
import type { AlertsOptions } from './alertsOptions.ts'

const accountsAtOnce = 100
/** An alert is resolved below this share of its threshold, so that a value around the threshold does not start and resolve it all the time. */
const resolvedShare = 0.8
/** It is also resolved if there are fewer calls than this share of the least number. */
const fewShare = 0.5

/** What a rule looks at. */
interface Rule {
  readonly kind: CallAlertKind
  readonly getThreshold: (rules: AlertRules) => number | null
  readonly getValue: (calls: RecentCalls) => number
  readonly getCalls: (calls: RecentCalls) => number
}

const rulesOfCalls: readonly Rule[] = [
  {
    kind: 'errors',
    getThreshold: ({ errorPercent }) => errorPercent,
    getValue: ({ total, failed }) => (total === 0 ? 0 : Math.round((failed / total) * 1_000) / 10),
    getCalls: ({ total }) => total,
  },
  {
    kind: 'latency',
    getThreshold: ({ latencyMs }) => latencyMs,
    getValue: ({ p95 }) => p95 ?? 0,
    getCalls: ({ timed }) => timed,
  },
]

const noCalls: RecentCalls = { total: 0, failed: 0, timed: 0, p95: null }

/** Whether an alert starts or is resolved; `undefined`: neither. */
const decide = (
  { value, threshold, calls }: { value: number; threshold: number; calls: number },
  { minCalls }: AlertRules,
  lasts: boolean,
): 'started' | 'resolved' | undefined => {
  if (!lasts) return calls >= minCalls && value >= threshold ? 'started' : undefined
  return value < threshold * resolvedShare || calls < minCalls * fewShare ? 'resolved' : undefined
}

/** The account of a rule, and the calls of its app or its API keys. */
interface Subject {
  readonly owner: AccountRules
  /** As of a quota. */
  readonly id: string
  readonly appId: string | null
  readonly calls: RecentCalls
}

const findAccount = async (
  { storage }: AlertsOptions,
  { owner, appId }: Subject,
): Promise<AlertAccount | undefined> => {
  if (appId === null) return { type: 'apiKeys' }
  const app = await storage.apps.find({ id: appId, userId: owner.id })
  return app && { type: 'app', id: app.id, name: app.name }
}

const change = async (
  options: AlertsOptions,
  { kind, getThreshold, getValue, getCalls }: Rule,
  subject: Subject,
  { state, threshold, startedAt }: { state: 'started' | 'resolved'; threshold: number; startedAt: number },
): Promise<void> => {
  const { storage, now } = options
  const { owner, calls } = subject
  const at = now()
  const alert = { kind, subject: subject.id, userId: owner.id }
  const account = await findAccount(options, subject)
  // The app was deleted or moved.
  if (account === undefined) return storage.alerts.forget(alert)
  const { minutes } = owner.rules
  await storage.transaction(async ({ alerts }) => {
    // The rule may have been turned off since it was read.
    const rules = await alerts.getRules(owner.id)
    if (rules === null || getThreshold(rules) === null) return
    const isFirst =
      state === 'started'
        ? await alerts.start({ ...alert, startedAt: at, quietSince: at - minutes * minuteMs })
        : await alerts.resolve({ ...alert, now: at })
    if (!isFirst) return
    const event: CallsEvent = {
      id: createId('evt'),
      type: `${kind}.${state}`,
      createdAt: new Date(at).toISOString(),
      data: {
        value: getValue(calls),
        threshold,
        minutes,
        calls: getCalls(calls),
        startedAt: new Date(startedAt).toISOString(),
        resolvedAt: state === 'started' ? null : new Date(at).toISOString(),
        account,
        user: { id: owner.id, email: owner.email },
      },
    }
    // Users set these rules themselves, so operators get no such alerts of others.
    for (const recipient of await alerts.listRecipients(owner.id, { operators: false }))
      await alerts.addDelivery({ ...recipient, event: JSON.stringify(event), now: at })
  })
}

/** Lists what had calls, and what has an alert that lasts. */
const listSubjects = (
  owner: AccountRules,
  recent: ReadonlyMap<string | null, RecentCalls>,
  lasting: readonly AlertState[],
): readonly Subject[] => {
  const toId = (appId: string | null): string => (appId === null ? `user:${owner.id}` : `app:${appId}`)
  const subjects = new Map(
    [...recent].map(([appId, calls]): [string, Subject] => [toId(appId), { owner, id: toId(appId), appId, calls }]),
  )
  for (const { subject: id } of lasting)
    if (!subjects.has(id))
      subjects.set(id, { owner, id, appId: id.startsWith('app:') ? id.slice(4) : null, calls: noCalls })
  return [...subjects.values()]
}

const findOfAccount = async (options: AlertsOptions, owner: AccountRules): Promise<void> => {
  const { storage, now, readRecentCalls } = options
  const to = floorTo(now(), minuteMs) + minuteMs
  const recent = await readRecentCalls({ userId: owner.id, from: to - owner.rules.minutes * minuteMs, to })
  const lasting = await storage.alerts.listStarted(owner.id)
  for (const subject of listSubjects(owner, recent, lasting))
    for (const rule of rulesOfCalls) {
      const threshold = rule.getThreshold(owner.rules)
      if (threshold === null) continue
      const started = lasting.find(({ kind, subject: id }) => kind === rule.kind && id === subject.id)
      const { calls } = subject
      const value = { value: rule.getValue(calls), threshold, calls: rule.getCalls(calls) }
      const state = decide(value, owner.rules, started !== undefined)
      if (state !== undefined)
        await change(options, rule, subject, { state, threshold, startedAt: started?.startedAt ?? now() })
    }
}

/**
 * Looks for apps and API keys whose calls fail or are slow, by the rules of their accounts. If two instances do, the primary key of an alert decides
 * which of them starts it, and the row which of them resolves it.
 * @throws The first error of an account, after all accounts.
 */
export const findCallAlerts = async (options: AlertsOptions, stopped: () => boolean): Promise<void> => {
  const errors: unknown[] = []
  for (let after: string | undefined = ''; after !== undefined && !stopped();) {
    const page: readonly AccountRules[] = await options.storage.alerts.listRules({ after, limit: accountsAtOnce })
    for (const owner of page) {
      if (stopped()) return
      await findOfAccount(options, owner).catch((error: unknown) => errors.push(error))
    }
    after = page.length === accountsAtOnce ? page.at(-1)?.id : undefined
  }
  if (errors.length > 0) throw errors[0]
}
