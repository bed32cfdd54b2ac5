import { startPostgres } from '@keyrail/gateway/test/storage/startPostgres.ts'
import type { Postgres } from '@keyrail/gateway/test/storage/startPostgres.ts'

/** The servers of a run. */
export interface Servers {
  /** Creates an empty database on a PostgreSQL that all scenarios share. @returns Its URL, a secret. */
  readonly createDatabase: () => Promise<string>
  /** Calls this when the run ends, also if it is interrupted, unless the returned function was called before. */
  readonly onStop: (stop: () => Promise<unknown>) => () => Promise<void>
  readonly stop: () => Promise<void>
}

/** Opens the servers. PostgreSQL starts when it is first used. */
export const openServers = (): Servers => {
  const stops = new Set<() => Promise<unknown>>()
  let postgres: Promise<Postgres> | undefined
  const onStop: Servers['onStop'] = (stop) => {
    stops.add(stop)
    return async () => {
      if (stops.delete(stop)) await stop()
    }
  }
  const open = async (): Promise<Postgres> => {
    const server = await startPostgres()
    onStop(server.stop)
    return server
  }
  return {
    createDatabase: async () => (await (postgres ??= open())).createDatabase(),
    onStop,
    stop: async () => {
      for (const stop of [...stops].reverse()) if (stops.delete(stop)) await stop()
    },
  }
}
