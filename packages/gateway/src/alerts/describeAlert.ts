import { formatEmail } from '../email/formatEmail.ts'
import type { Email } from '../email/mailer.ts'
import type { AlertAccount, AlertEvent, CallsEvent, ProblemEvent, QuotaEvent } from './alertEvent.ts'
import type { Problem } from './findProblems.ts'

const count = (value: number): string => value.toLocaleString('en-US')
const percent = (share: number | null): string => `${count(Math.round((share ?? 0) * 1_000) / 10)}%`
const moment = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`

const getName = (account: AlertAccount): string => (account.type === 'app' ? account.name : 'API keys')

const storeTitles: Readonly<Record<string, string>> = {
  database: 'The database',
  redis: 'Redis',
  chainStore: 'The Redis of the chain store',
}
const diskTitles: Readonly<Record<string, string>> = { database: 'the database', chainStore: 'the chain store' }

/** The title of each kind of problem, and its sentence in an email. */
const problemTexts: Readonly<
  Record<
    Problem['kind'],
    {
      readonly title: (problem: ProblemEvent['data']) => string
      readonly text: (problem: ProblemEvent['data']) => string
    }
  >
> = {
  store: {
    title: ({ subject }) => `${storeTitles[subject] ?? subject} is unavailable`,
    text: ({ subject, instance }) =>
      `The instance ${instance} cannot write to ${subject === 'redis' ? 'Redis' : 'the database'}. The log event "store" says why.`,
  },
  network: {
    title: ({ subject }) => `${subject} has no healthy node`,
    text: ({ subject }) =>
      `Calls to ${subject} fail, or go to nodes that are behind. The page of the upstreams says what is wrong with each node.`,
  },
  disk: {
    title: ({ subject, instance }) => `The disk of ${diskTitles[subject] ?? subject} on ${instance} is nearly full`,
    text: ({ share }) => `${percent(share)} of it is free.`,
  },
  certificate: {
    title: () => 'The certificate expires soon',
    text: ({ expiresAt }) =>
      `It expires at ${moment(expiresAt ?? '')}. Clients then reject all connections. Replace its files: the service reads them again without a restart.`,
  },
  errors: {
    title: () => 'Many calls fail because of nodes',
    text: ({ share }) =>
      `${percent(share)} of the calls of the last 5 minutes failed because no node responded to them as it should.`,
  },
}

const isProblem = (event: AlertEvent): event is ProblemEvent => event.type.startsWith('problem.')
const isResolved = ({ type }: AlertEvent): boolean => type.endsWith('.resolved')

const getProblemTitle = (event: Exclude<AlertEvent, QuotaEvent>): string => {
  if (isProblem(event)) return problemTexts[event.data.kind].title(event.data)
  return `${event.type.startsWith('errors.') ? 'Many failed calls' : 'Slow calls'}: ${getName(event.data.account)}`
}

/** The title of an alert: the subject of its email. */
export const getAlertTitle = (event: AlertEvent): string => {
  if (event.type !== 'quota.threshold') return `${isResolved(event) ? 'Resolved: ' : ''}${getProblemTitle(event)}`
  const { level, account } = event.data
  return level >= 100
    ? `Daily quota used up: ${getName(account)}`
    : `${level}% of the daily quota used: ${getName(account)}`
}

const describeQuota = ({ data: { level, used, limit, resetsAt } }: QuotaEvent, who: string): readonly string[] => [
  `${who} used ${count(used)} of ${count(limit)} units today.`,
  level >= 100
    ? `Calls are rejected until the quota resets, at ${moment(resetsAt)}.`
    : `The quota resets at ${moment(resetsAt)}.`,
]

const describeCalls = (event: CallsEvent, who: string): readonly string[] => {
  const { value, threshold, minutes, calls, startedAt } = event.data
  const of = `of ${count(calls)} calls in the last ${minutes} minutes`
  const isAboutErrors = event.type.startsWith('errors.')
  return [
    isAboutErrors
      ? `${who}: ${count(value)}% ${of} failed or were rejected.`
      : `${who}: 5% ${of} took ${count(value)} ms or longer.`,
    isResolved(event)
      ? `The alert started at ${moment(startedAt)}.`
      : `Your rule alerts you at ${count(threshold)}${isAboutErrors ? '%' : ' ms'}. You get another email when it is over.`,
  ]
}

const describeProblem = (event: ProblemEvent): readonly string[] =>
  isResolved(event)
    ? [`It was so since ${moment(event.data.startedAt)}, and is not any more.`]
    : [problemTexts[event.data.kind].text(event.data), 'You get another email when it is over.']

/**
 * The email about an alert.
 * @param to.isOwner - Whether it is for the user whose app it is about, or a member of the team, and not for an operator.
 * @param to.siteUrl - The base of the dashboard.
 */
export const toAlertEmail = (
  event: AlertEvent,
  { to, isOwner, siteUrl }: { to: string; isOwner: boolean; siteUrl: string },
): Email => {
  const base = siteUrl.replace(/\/+$/, '')
  const subject = getAlertTitle(event)
  const footer = `To stop these emails, open ${base}/account/alerts.`
  if (isProblem(event)) {
    const action =
      event.data.kind === 'network'
        ? { title: 'Show the nodes', url: `${base}/operator/upstreams` }
        : { title: 'Show the overview', url: `${base}/operator` }
    return formatEmail({ to, subject, paragraphs: describeProblem(event), action, footer })
  }
  const { account, user } = event.data
  const isApp = account.type === 'app'
  const keys = isOwner ? 'Your API keys together' : `The API keys of ${user.email}`
  const who = isApp ? `The app "${account.name}"` : keys
  const isTeam = user.id.startsWith('acc_')
  return formatEmail({
    to,
    subject,
    paragraphs: [
      ...(event.type === 'quota.threshold' ? describeQuota(event, who) : describeCalls(event, who)),
      ...(isOwner || !isApp ? [] : [`The app belongs to ${user.email}.`]),
    ],
    action: isOwner
      ? {
          title: event.type === 'quota.threshold' ? 'Show the usage' : 'Show the metrics',
          url: isApp ? `${base}/apps/${account.id}/metrics` : `${base}/account`,
        }
      : { title: 'Show the account', url: `${base}/operator/${isTeam ? 'teams' : 'users'}/${user.id}` },
    footer,
  })
}
