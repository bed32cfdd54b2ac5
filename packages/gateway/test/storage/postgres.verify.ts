import { inspect } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { postgres } from './databases.ts'
import { addApiKey, addUser } from './fill.ts'
import { openRaw } from './openRaw.ts'

describe('storage in PostgreSQL', () => {
  afterAll(() => postgres.stop())

  const createUrl = async (): Promise<string> => {
    const options = await postgres.create()
    if (!('databaseUrl' in options)) throw new Error('unreachable')
    return options.databaseUrl
  }

  test('recovers after all connections were cut', async () => {
    const databaseUrl = await createUrl()
    const storage = await openStorage({ databaseUrl })
    const { id: userId } = await addUser(storage)
    const { hash } = await addApiKey(storage, { userId })
    const admin = new pg.Client({ connectionString: databaseUrl })
    await admin.connect()
    const { rowCount } = await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    expect(rowCount).toBeGreaterThan(0)
    // A query before the loss is noticed fails. A later one gets a new connection.
    await expect
      .poll(async () =>
        storage.ping().then(
          () => 'well',
          (error: unknown) => isStorageError(error, 'unavailable') || error,
        ),
      )
      .toBe('well')
    expect(await storage.findAccess(hash)).toMatchObject({ user: { id: userId } })
    await admin.end()
    await storage.close()
    await expect(storage.ping()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    await expect(storage.findAccess(hash)).rejects.toThrow('the database is closed')
  })

  test.each([
    [10, {}],
    [3, { postgres: { maxConnections: 3 } }],
  ])('opens at most %s connections with %o, and reports them and the queries that wait', async (max, options) => {
    const storage = await openStorage({ databaseUrl: await createUrl(), ...options })
    const slow = Array.from({ length: max + 2 }, () => sql`select pg_sleep(0.3)`.execute(storage.db.query))
    await expect.poll(() => storage.pool?.()).toEqual({ active: max, idle: 0, waiting: 2, max })
    await Promise.all(slow)
    expect(storage.pool?.()).toEqual({ active: 0, idle: max, waiting: 0, max })
    await storage.close()
  })

  test('a ping writes a transaction, but no version of a row', async () => {
    const databaseUrl = await createUrl()
    const storage = await openStorage({ databaseUrl })
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const read = async () => {
      const { rows } = await client.query<{ place: string; next: string }>(
        'select ctid::text as place, (select pg_snapshot_xmax(pg_current_snapshot()))::text as next from schema_version',
      )
      return rows[0]
    }
    const before = await read()
    await storage.ping()
    const after = await read()
    expect(after?.place).toBe(before?.place)
    expect(Number(after?.next)).toBeGreaterThan(Number(before?.next))
    await client.end()
    await storage.close()
  })

  test('reports a lost idle connection and a failed statement, but not a conflict', async () => {
    const databaseUrl = await createUrl()
    const storage = await openStorage({ databaseUrl })
    let problems = 0
    storage.onProblem(() => (problems += 1))
    await storage.ping()
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    expect(problems).toBe(0)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await expect.poll(() => problems).toBe(1)
    await client.end()
    const write = (text: string) => storage.write([{ text, values: [] }])
    await expect(write('insert into revision select * from revision')).rejects.toSatisfy((error) =>
      isStorageError(error, 'conflict'),
    )
    expect(problems).toBe(1)
    await expect(write('select 1 / 0')).rejects.toSatisfy((error) => isStorageError(error, 'failed'))
    expect(problems).toBe(2)
    await storage.close()
  })

  test('only the transaction fails if its connection is lost', async () => {
    const { db, close } = await openRaw({ databaseUrl: await createUrl() })
    // The connection is cut while it is in use but idle: pg only reports that with an event.
    const lost = db.query.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
      const pid = rows[0]?.pid
      await sql`select pg_terminate_backend(${pid}::int, 5000)`.execute(db.query)
      await expect
        .poll(() => sql`select 1`.execute(transaction).catch((error: unknown) => error))
        .toSatisfy((error) => isStorageError(error, 'unavailable'))
      await sql`select 1`.execute(transaction)
    })
    await expect(lost).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    expect((await sql`select 1 as one`.execute(db.query)).rows).toEqual([{ one: 1 }])
    await close()
  })

  test('prepares the statements that look up keys once per connection', async () => {
    const databaseUrl = await createUrl()
    await (await openStorage({ databaseUrl })).close()
    // Nothing runs concurrently, so all queries use one connection.
    const { db, findAccess, findAccessByKid, close } = await openRaw({ databaseUrl })
    for (const digit of ['0', '1', '2']) await findAccess(digit.repeat(64))
    await findAccessByKid('kid_none')
    const { rows } =
      await sql`select name, generic_plans + custom_plans as used from pg_prepared_statements order by name`.execute(
        db.query,
      )
    expect(rows).toEqual([
      { name: 'keyrail-access-by-hash', used: 3 },
      { name: 'keyrail-access-by-kid', used: 1 },
    ])
    await close()
  })

  test('fails without the password in the error if the login is rejected or the server is missing', async () => {
    const databaseUrl = await createUrl()
    const wrong = new URL(databaseUrl)
    wrong.password = 'hunter2'
    const gone = new URL(databaseUrl)
    gone.pathname = '/nowhere'
    const closed = new URL(databaseUrl)
    // Nothing listens on the lowest port.
    closed.port = '1'
    const { password } = new URL(databaseUrl)
    for (const [url, code] of [
      [wrong, '28P01'],
      [gone, '3D000'],
      [closed, 'ECONNREFUSED'],
    ] as const) {
      const error: unknown = await openStorage({ databaseUrl: url.href }).catch((caught: unknown) => caught)
      expect(isStorageError(error, 'unavailable')).toBe(true)
      expect(String(error)).toBe(`StorageError: the database cannot be reached (${code})`)
      const shown = inspect(error, { depth: Infinity, showHidden: true })
      for (const hidden of ['hunter2', password]) expect(shown).not.toContain(hidden)
    }
  })

  test('does not include values in errors', async () => {
    const databaseUrl = await createUrl()
    const storage = await openStorage({ databaseUrl })
    const { email } = await addUser(storage)
    const error: unknown = await storage
      .transaction(async ({ auditLog }) =>
        auditLog.add({
          at: 0.5,
          userId: null,
          actor: email,
          action: 'x',
          subject: null,
          ip: null,
          detail: { password: 'my-password' },
        }),
      )
      .catch((caught: unknown) => caught)
    expect(isStorageError(error, 'failed')).toBe(true)
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/my-password|example\.org/)
    await storage.close()
  })
})
