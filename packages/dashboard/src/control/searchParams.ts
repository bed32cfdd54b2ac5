import type { MetricsQuery, MetricsRange } from '@keyrail/gateway'

const ranges: readonly unknown[] = ['hour', 'day', 'week', 'month', 'quarter'] satisfies MetricsRange[]

/** The router parses a text such as `7` as a number. */
const toText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined

const toTime = (value: unknown): string | undefined =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined

/** What a metrics page shows. */
export interface MetricsSearch extends MetricsQuery {
  /** Whether it also shows the period before. */
  readonly compare?: true
}

/** Reads the time range and the filters of a metrics page from its URL. Either `range`, or `from` and `to`. */
export const readMetricsSearch = (search: Record<string, unknown>): MetricsSearch => {
  const [from, to] = [toTime(search['from']), toTime(search['to'])]
  const [method, outcome, network] = [toText(search['method']), toText(search['outcome']), toText(search['network'])]
  return {
    ...(from !== undefined && to !== undefined
      ? { from, to }
      : ranges.includes(search['range']) && { range: search['range'] as MetricsRange }),
    ...(method !== undefined && { method }),
    ...(outcome !== undefined && { outcome }),
    ...(network !== undefined && { network }),
    ...(search['compare'] === true && { compare: true }),
  }
}

/** The filters of an audit log. */
export interface AuditFilters {
  /** A group of actions, such as `key`. */
  readonly action?: string
  /** The id of the author. */
  readonly actor?: string
  /** The id of what was changed. */
  readonly subject?: string
  /** The id of an account, in the log of all accounts. */
  readonly userId?: string
}

const auditPatterns: readonly (readonly [keyof AuditFilters, RegExp])[] = [
  ['action', /^[a-z][a-zA-Z]{0,31}$/],
  ['actor', /^[0-9A-Za-z_]{1,40}$/],
  ['subject', /^[0-9A-Za-z_]{1,40}$/],
  ['userId', /^(?:usr|acc)_[0-9a-z]{20}$/],
]

/** Reads the filters of an audit log from its URL. */
export const readAuditSearch = (search: Record<string, unknown>): AuditFilters =>
  Object.fromEntries(
    auditPatterns.flatMap(([name, pattern]) => {
      const value = search[name]
      return typeof value === 'string' && pattern.test(value) ? [[name, value]] : []
    }),
  )

/** Reads the search text of a list from its URL. */
export const readSearch = ({ search }: Record<string, unknown>): { search?: string } => {
  const text = toText(search)
  return text === undefined ? {} : { search: text }
}

/** The filters of a request log. */
export interface RequestFilters {
  readonly method?: string
  /** An outcome, or `failed` for all failures. */
  readonly outcome?: string
  readonly network?: string
  /** The last four characters of the key. */
  readonly key?: string
}

/** What the page of a request log shows: the requests that match the filters, and one of them beside the list. */
export interface RequestsSearch extends RequestFilters {
  /** The id of the open request. */
  readonly request?: string
}

/** Reads the filters of a request log from its URL. */
export const readRequestFilters = (search: Record<string, unknown>): RequestFilters =>
  Object.fromEntries(
    (['method', 'outcome', 'network', 'key'] satisfies (keyof RequestFilters)[]).flatMap((name) => {
      const text = toText(search[name])
      return text === undefined ? [] : [[name, text]]
    }),
  )

/** Reads the filters of a request log and its open request from its URL. */
export const readRequestsSearch = (search: Record<string, unknown>): RequestsSearch => {
  const { request } = search
  return {
    ...readRequestFilters(search),
    ...(typeof request === 'string' && /^log_[0-9a-z]{20}$/.test(request) && { request }),
  }
}
