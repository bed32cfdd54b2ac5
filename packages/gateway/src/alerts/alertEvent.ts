import type { UtcDay } from '../lib/utcDay.ts'
import type { Problem } from './findProblems.ts'

/** The shares of a daily quota that cause an alert, in percent. */
export const alertLevels = [80, 100] as const

/** What an alert is about: an app, or all API keys of the user together. */
export type AlertAccount =
  | { readonly type: 'app'; readonly id: string; readonly name: string }
  | { readonly type: 'apiKeys' }

/** The user, or the team: its id and its name. */
export interface AlertUser {
  readonly id: string
  readonly email: string
}

interface EventOf<Type extends string, Data> {
  /** The same for all recipients and all attempts. */
  readonly id: string
  readonly type: Type
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  readonly data: Data
}

/** A daily quota is nearly used up, or used up. */
export type QuotaEvent = EventOf<
  'quota.threshold',
  {
    /** Percent of the daily quota. */
    readonly level: number
    /** The UTC day, such as `2026-11-23`. */
    readonly day: string
    /** Units. */
    readonly used: number
    /** Units per day. */
    readonly limit: number
    /** When the quota resets, ISO 8601 in UTC. */
    readonly resetsAt: string
    readonly account: AlertAccount
    readonly user: AlertUser
  }
>

/** The kinds of alerts about calls that users set rules for. */
export type CallAlertKind = 'errors' | 'latency'

/** Calls crossed the threshold of a rule, or no longer do. */
export type CallsEvent = EventOf<
  `${CallAlertKind}.${'started' | 'resolved'}`,
  {
    /** Of `errors`: failed calls in percent. Of `latency`: the 95th percentile in milliseconds. */
    readonly value: number
    /** The value at which the alert starts. */
    readonly threshold: number
    /** The last minutes that `value` and `calls` are about. */
    readonly minutes: number
    readonly calls: number
    /** ISO 8601 in UTC. */
    readonly startedAt: string
    /** `null` when it starts. */
    readonly resolvedAt: string | null
    readonly account: AlertAccount
    readonly user: AlertUser
  }
>

/** The service has a problem, or no longer has it. */
export type ProblemEvent = EventOf<
  'problem.started' | 'problem.resolved',
  Problem & {
    /** The name of the host that noticed it. */
    readonly instance: string
    /** ISO 8601 in UTC. */
    readonly startedAt: string
    /** `null` when it starts. */
    readonly resolvedAt: string | null
  }
>

/** The test button sends it. */
export type TestEvent = EventOf<'webhook.test', { readonly user: AlertUser }>

/** An alert. */
export type AlertEvent = QuotaEvent | CallsEvent | ProblemEvent

/** Writes the body of a webhook's request: the same bytes for each attempt. */
export const toWebhookBody = ({ type, createdAt, data }: AlertEvent | TestEvent): string =>
  JSON.stringify({ type, timestamp: createdAt, data })

/** Creates the event of a quota that is nearly used up. @param now - Milliseconds since 1970. */
export const createQuotaEvent = ({
  id,
  day,
  now,
  ...data
}: { readonly id: string; readonly day: UtcDay; readonly now: number } & Omit<
  QuotaEvent['data'],
  'day' | 'resetsAt'
>): QuotaEvent => ({
  id,
  type: 'quota.threshold',
  createdAt: new Date(now).toISOString(),
  data: { ...data, day: day.text, resetsAt: new Date(day.endMs).toISOString() },
})
