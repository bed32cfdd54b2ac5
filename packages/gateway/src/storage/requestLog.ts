import type { Selectable } from 'kysely'
import type { Network } from '../lib/network.ts'
import type { Db, Tables } from './tables.ts'

/** A request in the log. */
export type LoggedRequest = Selectable<Tables['requestLog']>

/** The excerpts of the params and the response of a request. */
export type RequestExcerpts = Pick<Selectable<Tables['requestExcerpts']>, 'params' | 'response'>

/** A request's place in the order of the log. */
export interface LogPlace {
  readonly at: number
  readonly id: string
}

/** The request log. Keys have their own logs. */
export interface RequestLog {
  /**
   * Lists requests of a key, the newest first.
   * @param page.before - Only requests before this one.
   * @param page.from - Only requests at or after this time.
   * @param page.outcome - `failed`: all except `succeeded` and `reverted`.
   */
  list(page: {
    keyId: string
    before?: LogPlace | undefined
    from?: number | undefined
    method?: string | undefined
    outcome?: string | undefined
    network?: Network | undefined
    keyEnding?: string | undefined
    limit: number
  }): Promise<readonly LoggedRequest[]>
  /**
   * Counts the requests of a key by origin, the most frequent first. Requests that the service rejected do not count.
   * @param options.from - Only requests at or after this time.
   * @returns `origin: null`: those without an `Origin` header.
   */
  countOrigins(options: {
    keyId: string
    from: number
  }): Promise<readonly { readonly origin: string | null; readonly requests: number }[]>
  find(request: { keyId: string } & LogPlace): Promise<LoggedRequest | undefined>
  /** @param request.from - Excerpts of earlier requests have expired. */
  findExcerpts(request: { keyId: string; from: number } & LogPlace): Promise<RequestExcerpts | undefined>
}

/** The outcomes of requests that the service did not reject. */
const acceptedOutcomes = ['succeeded', 'reverted', 'nodeError', 'upstreamFailed', 'disconnected']

/** Creates the repository of the request log. */
export const createRequestLog = ({ query }: Db): RequestLog => ({
  list: ({ keyId, before, from, method, outcome, network, keyEnding, limit }) => {
    let page = query.selectFrom('requestLog').selectAll().where('keyId', '=', keyId)
    if (before !== undefined)
      page = page.where((row) => row(row.refTuple('at', 'id'), '<', row.tuple(before.at, before.id)))
    if (from !== undefined) page = page.where('at', '>=', from)
    if (method !== undefined) page = page.where('method', '=', method)
    if (outcome === 'failed') page = page.where('outcome', '<>', 'succeeded').where('outcome', '<>', 'reverted')
    else if (outcome !== undefined) page = page.where('outcome', '=', outcome)
    if (network !== undefined) page = page.where('network', '=', network)
    if (keyEnding !== undefined) page = page.where('keyEnding', '=', keyEnding)
    return page.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  },
  countOrigins: async ({ keyId, from }) => {
    const rows = await query
      .selectFrom('requestLog')
      .select(['origin', ({ fn }) => fn.countAll().as('requests')])
      .where('keyId', '=', keyId)
      .where('at', '>=', from)
      .where('outcome', 'in', acceptedOutcomes)
      .groupBy('origin')
      .execute()
    return rows
      .map(({ origin, requests }) => ({ origin, requests: Number(requests) }))
      .sort((one, other) => other.requests - one.requests)
  },
  find: ({ keyId, at, id }) =>
    query
      .selectFrom('requestLog')
      .selectAll()
      .where('keyId', '=', keyId)
      .where('at', '=', at)
      .where('id', '=', id)
      .executeTakeFirst(),
  findExcerpts: ({ keyId, at, id, from }) =>
    query
      .selectFrom('requestExcerpts')
      .select(['params', 'response'])
      .where('keyId', '=', keyId)
      .where('at', '=', at)
      .where('id', '=', id)
      .where('at', '>=', from)
      .executeTakeFirst(),
})
