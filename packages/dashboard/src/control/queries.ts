import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  ControlApi,
  MetricsQuery,
  MetricsRange,
  MetricsView,
  RequestsCsvQuery,
  RequestsQuery,
} from '@keyrail/gateway'
import { callApi, toPath } from './callApi.ts'
import type { AuditFilters, RequestFilters } from './searchParams.ts'

/** The subject of metrics or usage. */
export type Subject = KeySubject | 'account'

/** The app or API key whose key a request is sent with. */
export type KeySubject = { readonly appId: string } | { readonly keyId: string }

/** What the service offers. It does not change while a page is open. */
export const deploymentQuery = queryOptions({
  queryKey: ['deployment'],
  queryFn: ({ signal }) => callApi('GET /api/deployment', undefined, signal),
  staleTime: 5 * 60_000,
})

/** The status of each network. */
export const networkStatusQuery = queryOptions({
  queryKey: ['network-status'],
  queryFn: ({ signal }) => callApi('GET /api/networks/status', undefined, signal),
})

/** The account that is logged in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => callApi('GET /api/session', undefined, signal),
  staleTime: 30_000,
})

/** The accounts that the user is a member of. */
export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => callApi('GET /api/accounts', undefined, signal),
  staleTime: 60_000,
})

/** The members of the account. */
export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => callApi('GET /api/members', undefined, signal),
})

/** The open invites to the team. */
export const memberInvitesQuery = queryOptions({
  queryKey: ['members', 'invites'],
  queryFn: ({ signal }) => callApi('GET /api/members/invites', undefined, signal),
})

/** The accounts at providers of single sign-on that log in to the account. */
export const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: ({ signal }) => callApi('GET /api/account/identities', undefined, signal),
})

/** The sessions of the user. */
export const sessionsQuery = queryOptions({
  // Follows a change of the session.
  queryKey: ['session', 'list'],
  queryFn: ({ signal }) => callApi('GET /api/account/sessions', undefined, signal),
})

/** The second factors of the account. */
export const factorsQuery = queryOptions({
  queryKey: ['factors'],
  queryFn: ({ signal }) => callApi('GET /api/account/factors', undefined, signal),
})

/** The apps whose name contains the search text, page by page. */
export const appsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['apps', { search }],
    queryFn: ({ signal, pageParam }) =>
      callApi(
        'GET /api/apps',
        { query: { limit: 48, ...(search && { search }), ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

/** One app. */
export const appQuery = (appId: string) =>
  queryOptions({
    queryKey: ['app', appId],
    queryFn: ({ signal }) => callApi('GET /api/apps/{appId}', { params: { appId } }, signal),
  })

/** An app's allow list. */
export const allowListQuery = (appId: string) =>
  queryOptions({
    queryKey: ['app', appId, 'allow-list'],
    queryFn: ({ signal }) => callApi('GET /api/apps/{appId}/allow-list', { params: { appId }, query: {} }, signal),
  })

/** The websites that used a key in the last 24 hours. */
export const originsQuery = (subject: KeySubject) =>
  queryOptions({
    queryKey: 'appId' in subject ? ['app', subject.appId, 'origins'] : ['key', subject.keyId, 'origins'],
    queryFn: ({ signal }) =>
      'appId' in subject
        ? callApi('GET /api/apps/{appId}/origins', { params: subject }, signal)
        : callApi('GET /api/keys/{keyId}/origins', { params: subject }, signal),
    staleTime: 60_000,
  })

/** An app's JWT keys. */
export const jwtKeysQuery = (appId: string) =>
  queryOptions({
    queryKey: ['app', appId, 'jwt-keys'],
    queryFn: ({ signal }) => callApi('GET /api/apps/{appId}/jwt-keys', { params: { appId } }, signal),
  })

/** The API keys that are not revoked. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => callApi('GET /api/keys', undefined, signal),
})

/** One API key. */
export const keyQuery = (keyId: string) =>
  queryOptions({
    queryKey: ['key', keyId],
    queryFn: ({ signal }) => callApi('GET /api/keys/{keyId}', { params: { keyId } }, signal),
  })

/** The number of requests and their outcomes. */
export const metricsQuery = (subject: Subject, search: MetricsRange | MetricsQuery) => {
  const query = typeof search === 'string' ? { range: search } : search
  return queryOptions({
    queryKey: ['metrics', subject, query],
    queryFn: ({ signal }): Promise<MetricsView> => {
      if (subject === 'account') return callApi('GET /api/metrics', { query }, signal)
      return 'appId' in subject
        ? callApi('GET /api/apps/{appId}/metrics', { params: { appId: subject.appId }, query }, signal)
        : callApi('GET /api/keys/{keyId}/metrics', { params: { keyId: subject.keyId }, query }, signal)
    },
  })
}

/** The requests of the last 24 hours and the last use of every app and API key. */
export const activityQuery = queryOptions({
  queryKey: ['activity'],
  queryFn: ({ signal }) => callApi('GET /api/activity', undefined, signal),
  staleTime: 30_000,
})

/** The requests of the last 24 hours and the last use of a key, and of its old key during a grace period. */
export const keyTrafficQuery = (subject: Exclude<Subject, 'account'>) =>
  queryOptions({
    queryKey: ['key-traffic', subject],
    queryFn: ({ signal }) =>
      'appId' in subject
        ? callApi('GET /api/apps/{appId}/key/traffic', { params: subject }, signal)
        : callApi('GET /api/keys/{keyId}/traffic', { params: subject }, signal),
  })

/** How much of the limits is used: of an app's, or of all API keys together. */
export const usageQuery = (appId?: string) =>
  queryOptions({
    queryKey: ['usage', appId ?? 'account'],
    queryFn: ({ signal }) =>
      appId === undefined
        ? callApi('GET /api/usage', undefined, signal)
        : callApi('GET /api/apps/{appId}/usage', { params: { appId } }, signal),
  })

/** A page of the request log. */
export type RequestsPage = ControlApi['GET /api/apps/{appId}/requests']['response']

/** Converts the filters of a page to those of the API. */
export const toRequestsQuery = ({ key, ...filters }: RequestFilters): RequestsCsvQuery => ({
  ...filters,
  ...(key !== undefined && { keyEnding: key }),
})

/** The path of the CSV table of the requests that match the filters. */
export function toRequestsCsvPath(subject: KeySubject, filters: RequestFilters): string {
  const query = toRequestsQuery(filters)
  return 'appId' in subject
    ? toPath('GET /api/apps/{appId}/requests.csv', { params: subject, query })
    : toPath('GET /api/keys/{keyId}/requests.csv', { params: subject, query })
}

/** Loads a page of the request log, the newest request first. */
export function loadRequests(
  subject: KeySubject,
  filters: RequestFilters,
  options: Pick<RequestsQuery, 'after' | 'cursor'> & { readonly signal: AbortSignal },
): Promise<RequestsPage> {
  const { signal, ...place } = options
  const query: RequestsQuery = { limit: 100, ...toRequestsQuery(filters), ...place }
  return 'appId' in subject
    ? callApi('GET /api/apps/{appId}/requests', { params: subject, query }, signal)
    : callApi('GET /api/keys/{keyId}/requests', { params: subject, query }, signal)
}

/** The request log, page by page. `useLiveTail` adds new requests. */
export const requestsQuery = (subject: KeySubject, filters: RequestFilters) =>
  infiniteQueryOptions({
    queryKey: ['requests', subject, filters],
    queryFn: ({ signal, pageParam }) =>
      loadRequests(subject, filters, { signal, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
  })

/** The filters that the user has saved for a request log. */
export const savedFiltersQuery = (subject: KeySubject) =>
  queryOptions({
    queryKey: ['saved-filters', subject],
    queryFn: ({ signal }) =>
      'appId' in subject
        ? callApi('GET /api/apps/{appId}/saved-filters', { params: subject }, signal)
        : callApi('GET /api/keys/{keyId}/saved-filters', { params: subject }, signal),
    staleTime: 60_000,
  })

/** The custom errors of the contracts that an app calls. */
export const contractErrorsQuery = (appId: string) =>
  queryOptions({
    queryKey: ['app', appId, 'contract-errors'],
    queryFn: ({ signal }) => callApi('GET /api/apps/{appId}/contract-errors', { params: { appId } }, signal),
    staleTime: 60_000,
  })

/** One request of the log. */
export const requestQuery = (subject: KeySubject, logId: string) =>
  queryOptions({
    queryKey: ['request', subject, logId],
    queryFn: ({ signal }) =>
      'appId' in subject
        ? callApi('GET /api/apps/{appId}/requests/{logId}', { params: { ...subject, logId } }, signal)
        : callApi('GET /api/keys/{keyId}/requests/{logId}', { params: { ...subject, logId } }, signal),
    staleTime: 60_000,
  })

/** The personal access tokens. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => callApi('GET /api/tokens', undefined, signal),
})

/** The alerts of the account. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => callApi('GET /api/alerts', undefined, signal),
})

const page = (cursor: string, filters: AuditFilters) => ({
  query: { limit: 50, ...(cursor && { cursor }), ...filters },
})

/** The account's audit log, the newest first. */
export const auditQuery = (filters: Omit<AuditFilters, 'userId'>) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'own', filters],
    queryFn: ({ signal, pageParam }) => callApi('GET /api/audit-log', page(pageParam, filters), signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

/** The whole instance's audit log, the newest first. */
export const adminAuditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'all', filters],
    queryFn: ({ signal, pageParam }) => callApi('GET /api/admin/audit-log', page(pageParam, filters), signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

/** The overview of the service. */
export const overviewQuery = queryOptions({
  queryKey: ['admin', 'overview'],
  queryFn: ({ signal }) => callApi('GET /api/admin/overview', undefined, signal),
})

/** Who used most on a UTC day, such as `2026-11-21`; `undefined`: today. */
export const topUsageQuery = (day: string | undefined) =>
  queryOptions({
    queryKey: ['admin', 'top-usage', day],
    queryFn: ({ signal }) => callApi('GET /api/admin/usage/top', { query: day === undefined ? {} : { day } }, signal),
    staleTime: 30_000,
  })

/** The nodes. */
export const upstreamsQuery = queryOptions({
  queryKey: ['admin', 'upstreams'],
  queryFn: ({ signal }) => callApi('GET /api/admin/upstreams', undefined, signal),
})

/** What the nodes were sent by day. */
export const upstreamDaysQuery = queryOptions({
  queryKey: ['admin', 'upstreams', 'days'],
  queryFn: ({ signal }) => callApi('GET /api/admin/upstreams/days', { query: {} }, signal),
})

/** The accounts whose email address contains the search text. */
export const usersQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'users', { search }],
    queryFn: ({ signal, pageParam }) =>
      callApi(
        'GET /api/admin/users',
        { query: { limit: 50, ...(search && { search }), ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

/** One account. */
export const userQuery = (userId: string) =>
  queryOptions({
    queryKey: ['admin', 'user', userId],
    queryFn: ({ signal }) => callApi('GET /api/admin/users/{userId}', { params: { userId } }, signal),
  })

/** How much of the limits of API keys an account has used. */
export const userUsageQuery = (userId: string) =>
  queryOptions({
    queryKey: ['admin', 'user', userId, 'usage'],
    queryFn: ({ signal }) => callApi('GET /api/admin/users/{userId}/usage', { params: { userId } }, signal),
  })

/** The requests of an account in the last 30 days. */
export const userMetricsQuery = (userId: string) =>
  queryOptions({
    queryKey: ['admin', 'user', userId, 'metrics'],
    queryFn: ({ signal }) =>
      callApi('GET /api/admin/users/{userId}/metrics', { params: { userId }, query: { range: 'month' } }, signal),
    staleTime: 30_000,
  })

/** The teams. */
export const teamsQuery = infiniteQueryOptions({
  queryKey: ['admin', 'teams'],
  queryFn: ({ signal, pageParam }) =>
    callApi('GET /api/admin/accounts', { query: { limit: 50, ...(pageParam && { cursor: pageParam }) } }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})

/** One team. */
export const teamQuery = (accountId: string) =>
  queryOptions({
    queryKey: ['admin', 'team', accountId],
    queryFn: ({ signal }) => callApi('GET /api/admin/accounts/{accountId}', { params: { accountId } }, signal),
  })

/** The invites that are open. */
export const invitesQuery = queryOptions({
  queryKey: ['admin', 'invites'],
  queryFn: ({ signal }) => callApi('GET /api/admin/invites', undefined, signal),
})
