import type { LogQuery } from '../../../storage/chainStore/logQuery.ts'

/** A query of logs that a node has not responded to yet. */
export interface InFlightQuery {
  /** Waits for its result. @returns `undefined` if it failed. */
  readonly wait: () => Promise<Buffer | string | undefined>
}

/** A query for the call that sends it. Others find it until it ends. */
export interface SentLogQuery {
  /** Whether nobody waits for its result: then it may be streamed, and nobody finds it any more. */
  readonly mayStream: () => boolean
  /** Call this with its result; without one if it failed or was stopped. */
  readonly end: (result?: Buffer | string) => void
}

/** The queries of logs in flight on one network: what one call reads, others do not have to. */
export interface InFlightLogs {
  /** Finds one whose result has all logs of a query. */
  readonly find: (query: LogQuery) => InFlightQuery | undefined
  readonly add: (query: LogQuery) => SentLogQuery
}

interface OpenQuery {
  readonly query: LogQuery
  readonly topics: string
  readonly addresses: ReadonlySet<string>
  readonly result: Promise<Buffer | string | undefined>
  waiters: number
}

const covers = ({ query, addresses }: OpenQuery, other: LogQuery): boolean =>
  query.first <= other.first && query.last >= other.last && other.addresses.every((address) => addresses.has(address))

/** Creates the registry of a network's queries in flight. */
export const createInFlightLogs = (): InFlightLogs => {
  const open = new Set<OpenQuery>()
  return {
    find: (query) => {
      if (open.size === 0) return undefined
      const topics = JSON.stringify(query.topics)
      for (const one of open)
        if (one.topics === topics && covers(one, query))
          return {
            wait: () => {
              one.waiters += 1
              return one.result
            },
          }
      return undefined
    },
    add: (query) => {
      let resolve: (value: Buffer | string | undefined) => void = () => {}
      const result = new Promise<Buffer | string | undefined>((resolver) => (resolve = resolver))
      const topics = JSON.stringify(query.topics)
      const one: OpenQuery = { query, topics, addresses: new Set(query.addresses), result, waiters: 0 }
      open.add(one)
      return {
        mayStream: () => one.waiters === 0 && open.delete(one),
        end: (value) => {
          open.delete(one)
          resolve(value)
        },
      }
    },
  }
}
