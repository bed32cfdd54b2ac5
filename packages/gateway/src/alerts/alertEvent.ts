import type { UtcDay } from '../lib/utcDay.ts'
import { formatEmail } from '../email/formatEmail.ts'
import type { Email } from '../email/mailer.ts'

/** The shares of a daily quota that cause an alert, in percent. */
export const alertLevels = [80, 100] as const

/** The body of a request to a webhook. */
export interface AlertEvent {
  /** The same for all recipients and all attempts. */
  readonly id: string
  /** `webhook.test` is sent by the test button. */
  readonly type: 'quota.threshold' | 'webhook.test'
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  readonly data: {
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
    /** The owner of the quota: an app, or all API keys of the user. */
    readonly account:
      | { readonly type: 'app'; readonly id: string; readonly name: string }
      | { readonly type: 'apiKeys' }
    /** The user, or the team: its id and its name. */
    readonly user: { readonly id: string; readonly email: string }
  }
}

/** Creates the event of an alert. */
export const createAlertEvent = ({
  day,
  now,
  ...facts
}: Pick<AlertEvent, 'id' | 'type'> &
  Pick<AlertEvent['data'], 'level' | 'used' | 'limit' | 'account' | 'user'> & {
    readonly day: UtcDay
    readonly now: number
  }): AlertEvent => {
  const { id, type, level, used, limit, account, user } = facts
  return {
    id,
    type,
    createdAt: new Date(now).toISOString(),
    data: {
      level,
      day: day.text,
      used,
      limit,
      resetsAt: new Date(day.endMs).toISOString(),
      account,
      user,
    },
  }
}

const count = (value: number): string => value.toLocaleString('en-US')

/**
 * The email about an alert.
 * @param to.isOwner - Whether it is for the user whose quota it is, or a member of the team, and not for an operator.
 * @param to.siteUrl - The base of the dashboard.
 */
export const toAlertEmail = (
  { data: { level, used, limit, account, user, resetsAt } }: AlertEvent,
  { to, isOwner, siteUrl }: { to: string; isOwner: boolean; siteUrl: string },
): Email => {
  const base = siteUrl.replace(/\/+$/, '')
  const what = account.type === 'app' ? `The app "${account.name}"` : 'Your API keys together'
  const whatForOperator = account.type === 'app' ? what : `The API keys of ${user.email}`
  const subject = account.type === 'app' ? account.name : 'API keys'
  const reset = `${resetsAt.slice(0, 16).replace('T', ' ')} UTC`
  const isUsedUp = level >= 100
  const isTeam = user.id.startsWith('acc_')
  return formatEmail({
    to,
    subject: isUsedUp ? `Daily quota used up: ${subject}` : `${level}% of the daily quota used: ${subject}`,
    paragraphs: [
      `${isOwner ? what : whatForOperator} used ${count(used)} of ${count(limit)} units today.`,
      isUsedUp ? `Calls are rejected until the quota resets, at ${reset}.` : `The quota resets at ${reset}.`,
      ...(isOwner || account.type !== 'app' ? [] : [`The app belongs to ${user.email}.`]),
    ],
    action: isOwner
      ? {
          title: 'Show the usage',
          url: account.type === 'app' ? `${base}/apps/${account.id}/metrics` : `${base}/account`,
        }
      : { title: 'Show the account', url: `${base}/operator/${isTeam ? 'teams' : 'users'}/${user.id}` },
    footer: `To stop these emails, open ${base}/account/alerts.`,
  })
}
