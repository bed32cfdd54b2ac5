import { Redis } from 'ioredis'
import pg from 'pg'
import { openStorage } from '../../src/storage/openStorage.ts'

/** What a run has done to a database since it was created. */
export interface DatabaseFigures {
  /** Transactions, including those that only read. A connection reports them up to 10 seconds late, or when it is closed. */
  readonly commits: number
  /** Rows that metering and the ledger inserted or updated. */
  readonly rows: number
}

/** Creates the tables of a database, so that instances start at once. */
export const createTables = async (databaseUrl: string): Promise<void> => {
  await (await openStorage({ databaseUrl })).close()
}

const queryOnce = async (
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

/** Reads what was done to a database. It connects to another database of the server, so that it does not count itself. */
export const readDatabaseFigures = async (databaseUrl: string): Promise<DatabaseFigures> => {
  const admin = new URL(databaseUrl)
  admin.pathname = '/postgres'
  const [database] = await queryOnce(
    admin.href,
    'select xact_commit as commits, tup_inserted + tup_updated as rows from pg_stat_database where datname = $1',
    [new URL(databaseUrl).pathname.slice(1)],
  )
  return { commits: Number(database?.['commits']), rows: Number(database?.['rows']) }
}

/** Reads how many units the ledger has for each account, and how many calls metering has. */
export const readCharged = async (
  databaseUrl: string,
): Promise<{ charged: ReadonlyMap<string, number>; metered: number }> => {
  const rows = await queryOnce(
    databaseUrl,
    'select account, sum(charged) as charged from account_days group by account',
  )
  const [minutes] = await queryOnce(databaseUrl, 'select coalesce(sum(total), 0) as total from usage_minutes')
  return {
    charged: new Map(rows.map(({ account, charged }) => [String(account), Number(charged)])),
    metered: Number(minutes?.['total']),
  }
}

/** Sends commands to Redis on a connection of their own. */
export const sendToRedis = async (
  redisUrl: string,
  ...commands: readonly (readonly [string, ...string[]])[]
): Promise<readonly string[]> => {
  const client = new Redis(redisUrl)
  try {
    const replies: string[] = []
    for (const [command, ...values] of commands) replies.push(String(await client.call(command, values)))
    return replies
  } finally {
    client.disconnect()
  }
}
