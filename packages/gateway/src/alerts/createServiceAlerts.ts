import { minuteMs } from '../lib/time.ts'
import type { ServiceContact } from '../storage/alerts.ts'
import type { AlertState } from '../storage/alertStates.ts'
import { createId } from '../storage/createId.ts'
import type { ProblemEvent } from './alertEvent.ts'
import type { AlertsOptions } from './alertsOptions.ts'
import { createDurationWatch } from './createDurationWatch.ts'
import type { Problem } from './findProblems.ts'
import { sendByEmail, sendToWebhook } from './sendAlert.ts'

/** A problem must last so long to cause an alert. */
const startAfterMs = minuteMs
/** It must be gone for so long, so that one that comes and goes causes one alert. */
const resolveAfterMs = 5 * minuteMs
/** How often an alert is sent that is not in the database. Each run is an attempt. */
const maxAttempts = 20

/** Alerts about the service. */
export interface ServiceAlerts {
  /** Takes the problems of this moment. */
  readonly observe: (problems: readonly Problem[]) => void
  /** Sends alerts about the database: without it, from memory. Never rejects. */
  readonly sendWithoutDatabase: () => Promise<void>
  /** Starts and resolves the other alerts, in the database. @param isLeader - Whether this instance has the lease. */
  readonly update: (isLeader: boolean) => Promise<void>
}

interface QueuedAlert {
  readonly event: ProblemEvent
  readonly contact: ServiceContact
  attempts: number
}

interface State {
  readonly watch: ReturnType<typeof createDurationWatch>
  problems: readonly Problem[]
  /** Whether this instance had the lease when the database last responded. */
  isLeader: boolean
  /** Who got alerts when the database last responded. */
  contacts: readonly ServiceContact[]
  /** The loss of the database that this instance has reported. */
  lost: { readonly problem: Problem; readonly startedAt: number } | undefined
  queue: QueuedAlert[]
}

const isDatabase = ({ kind, subject }: Pick<Problem, 'kind' | 'subject'>): boolean =>
  kind === 'store' && subject === 'database'

/** Other instances have other disks. */
const toSubject = ({ kind, subject }: Pick<Problem, 'kind' | 'subject'>, instance: string): string =>
  kind === 'disk' ? `${instance}/${subject}` : subject

const toKey = (kind: string, subject: string): string => `${kind} ${subject}`

const createEvent = (
  { instance, now }: AlertsOptions,
  problem: Problem,
  { startedAt, isResolved }: { readonly startedAt: number; readonly isResolved: boolean },
): ProblemEvent => {
  const at = new Date(now()).toISOString()
  return {
    id: createId('evt'),
    type: isResolved ? 'problem.resolved' : 'problem.started',
    createdAt: at,
    data: {
      ...problem,
      instance,
      startedAt: new Date(startedAt).toISOString(),
      resolvedAt: isResolved ? at : null,
    },
  }
}

const flush = async (options: AlertsOptions, state: State): Promise<void> => {
  const due = state.queue
  state.queue = []
  for (const queued of due) {
    const { event, contact } = queued
    const { webhook, userId, email } = contact
    const { ok, result } =
      webhook === null
        ? await sendByEmail(options, { email, isOwner: true }, event)
        : await sendToWebhook(options, { ...webhook, userId }, event)
    queued.attempts += 1
    if (ok) continue
    if (queued.attempts < maxAttempts) state.queue.push(queued)
    else options.onEvent({ event: 'alertFailed', deliveryId: event.id, by: webhook ? 'webhook' : 'email', result })
  }
}

const sendWithoutDatabase = async (options: AlertsOptions, state: State): Promise<void> => {
  const { watch, contacts } = state
  const now = options.now()
  const key = toKey('store', 'database')
  const queue = (event: ProblemEvent): void => {
    state.queue.push(...contacts.map((contact) => ({ event, contact, attempts: 0 })))
  }
  const problem = state.problems.find(isDatabase)
  const { lost } = state
  if (lost === undefined) {
    // The lease cannot be taken any more, so the last one that was granted decides which instance sends.
    if (problem !== undefined && state.isLeader && watch.getDuration(key, true, now) >= startAfterMs) {
      state.lost = { problem, startedAt: now }
      queue(createEvent(options, problem, { startedAt: now, isResolved: false }))
    }
  } else if (watch.getDuration(key, false, now) >= resolveAfterMs) {
    state.lost = undefined
    queue(createEvent(options, lost.problem, { startedAt: lost.startedAt, isResolved: true }))
  }
  await flush(options, state)
}

const store = async (
  options: AlertsOptions,
  problem: Problem,
  { startedAt, isResolved }: { readonly startedAt: number; readonly isResolved: boolean },
): Promise<void> => {
  const now = options.now()
  const alert = { kind: problem.kind, subject: toSubject(problem, options.instance) }
  await options.storage.transaction(async ({ alerts }) => {
    const isFirst = isResolved
      ? await alerts.resolve({ ...alert, now })
      : await alerts.start({ ...alert, userId: null, startedAt: now, quietSince: now })
    if (!isFirst) return
    const event = JSON.stringify(createEvent(options, problem, { startedAt, isResolved }))
    for (const { userId, webhook } of await alerts.listServiceContacts())
      await alerts.addDelivery({ userId, webhookId: webhook?.id ?? null, event, now })
  })
}

/** The problem of an alert that is resolved. */
const toProblem = ({ kind, subject }: AlertState, instance: string): Problem => ({
  kind: kind as Problem['kind'],
  subject: kind === 'disk' ? subject.slice(instance.length + 1) : subject,
  share: null,
  expiresAt: null,
})

const update = async (options: AlertsOptions, state: State, isLeader: boolean): Promise<void> => {
  const { storage, instance, now } = options
  const { watch } = state
  state.isLeader = isLeader
  if (isLeader) state.contacts = await storage.alerts.listServiceContacts()
  const started = await storage.alerts.listStarted(null)
  const lasting = new Set(started.map(({ kind, subject }) => toKey(kind, subject)))
  for (const problem of state.problems) {
    const key = toKey(problem.kind, toSubject(problem, instance))
    // Every instance has its own disks. What all see is up to the one with the lease.
    if (isDatabase(problem) || (problem.kind !== 'disk' && !isLeader) || lasting.has(key)) continue
    if (watch.getDuration(key, true, now()) >= startAfterMs)
      await store(options, problem, { startedAt: now(), isResolved: false })
  }
  for (const one of started) {
    const isOwn = one.kind === 'disk' ? one.subject.startsWith(`${instance}/`) : isLeader
    if (isOwn && watch.getDuration(toKey(one.kind, one.subject), false, now()) >= resolveAfterMs)
      await store(options, toProblem(one, instance), { startedAt: one.startedAt, isResolved: true })
  }
}

/**
 * Creates the alerts about the service. The database records which ones last, so that instances report each once. If the database itself is lost,
 * the instance that had the lease reports it, to those who got alerts before.
 */
export const createServiceAlerts = (options: AlertsOptions): ServiceAlerts => {
  const state: State = {
    watch: createDurationWatch(),
    problems: [],
    isLeader: false,
    contacts: [],
    lost: undefined,
    queue: [],
  }
  return {
    observe: (problems) => {
      state.problems = problems
      state.watch.observe(
        problems.map((problem) => toKey(problem.kind, toSubject(problem, options.instance))),
        options.now(),
      )
    },
    sendWithoutDatabase: () => sendWithoutDatabase(options, state),
    update: (isLeader) => update(options, state, isLeader),
  }
}
