import { csvText } from '../contract/texts.ts'
import { overviewView, upstreamDaysQuery, upstreamDaysView, upstreamView, upstreamsView } from '../contract/operator.ts'
import { route } from '../route.ts'
import type { ControlParts, Route } from '../route.ts'
import { toCsv } from '../views/csv.ts'
import { createView } from '../views/createView.ts'
import { listAuditEntries } from '../views/listAuditEntries.ts'
import { isoTime } from '../views/times.ts'
import type { TrafficDay } from '../../usage/traffic/createNodeTraffic.ts'

const maxChanges = 20
/** Among so many newest entries of the audit log. */
const maxScanned = 5_000
/** Entries of the audit log that explain no change of the service's behaviour. */
const noChanges = [
  'account.confirmFailed',
  'account.factorFailed',
  'account.forgotPassword',
  'account.logIn',
  'account.logInFailed',
  'account.logInPending',
  'account.logOut',
  'account.requestEmail',
  'account.resetLink',
  'account.verifyEmail',
  'key.reveal',
  'webhook.test',
]

const toUpstream = createView(upstreamView)

const readUpstreamDays = (
  { upstreams, readUpstreamDays: read }: ControlParts,
  { days = 31 }: { readonly days?: number },
): Promise<readonly TrafficDay[]> =>
  read(
    upstreams().map(({ network, upstream }) => ({ network, name: upstream })),
    days,
  )

const toUpstreamDaysCsv = (days: readonly TrafficDay[]): string =>
  toCsv([
    ['day', 'network', 'upstream', 'calls', 'units', 'savedByCache', 'savedInFlight'],
    ...days.flatMap(({ day, network, upstreams, savedByCache, savedInFlight }) => [
      ...upstreams.map(({ name, calls, units }) => [day, network, name, calls, units, null, null]),
      [day, network, null, null, null, savedByCache, savedInFlight],
    ]),
  ])

/** The routes for operators about the service and its nodes. */
export const serviceRoutes: readonly Route[] = [
  route(
    'GET /api/admin/overview',
    {
      summary: 'Gets the state of the service, and of the instance that responds.',
      access: 'operator',
      response: overviewView,
    },
    async (_, parts) => {
      const { storage, startedAt, degraded, readProblems, readInstance } = parts
      return {
        response: {
          users: await storage.users.count(),
          apps: await storage.apps.count(),
          apiKeys: await storage.keys.countApiKeys(),
          startedAt: isoTime(startedAt),
          degraded: degraded(),
          problems: await readProblems(),
          changes: await listAuditEntries(parts, { without: noChanges, newest: maxScanned, limit: maxChanges }),
          instance: await readInstance(),
        },
      }
    },
  ),

  route(
    'GET /api/admin/upstreams',
    {
      summary: 'Lists the nodes, as this instance sees them.',
      access: 'operator',
      response: upstreamsView,
    },
    async (_, { upstreams }) => ({
      response: {
        items: upstreams().map((state) => ({
          ...toUpstream(state),
          name: state.upstream,
          outcomes: Object.fromEntries(state.outcomes),
        })),
      },
    }),
  ),

  route(
    'GET /api/admin/upstreams/days',
    {
      summary: 'Lists what the nodes were sent by day, and what was saved.',
      access: 'operator',
      query: upstreamDaysQuery,
      response: upstreamDaysView,
    },
    async ({ query }, parts) => ({ response: { items: await readUpstreamDays(parts, query) } }),
  ),

  route(
    'GET /api/admin/upstreams/days.csv',
    {
      summary: 'Gets what the nodes were sent by day as CSV.',
      description: 'A row for each day and node, and one for each day and network with what was saved.',
      access: 'operator',
      isExpensive: true,
      type: 'text/csv',
      query: upstreamDaysQuery,
      response: csvText,
    },
    async ({ query }, parts) => ({
      response: toUpstreamDaysCsv(await readUpstreamDays(parts, query)),
      fileName: 'keyrail-upstreams-by-day.csv',
    }),
  ),
]
