import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { createReadMetrics } from '../../src/usage/metering/createReadMetrics.ts'
import { createPartitions } from '../../src/usage/metering/dayPartitions.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { readState } from '../../src/usage/metering/usageRows.ts'
import { migrate } from '../../src/storage/migration/migrate.ts'
import type { Migration } from '../../src/storage/migration/migration.ts'
import { migrations } from '../../src/storage/migration/migrations.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import type { Db } from '../../src/storage/tables.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { databases } from './databases.ts'
import { addApiKey, addUser } from './fill.ts'
import { openRaw } from './openRaw.ts'

const newest = migrations.length

/** Tables, columns and indexes, according to the database. */
const readSchema = async ({ query, kind }: Db): Promise<readonly unknown[]> => {
  const { rows } =
    kind === 'sqlite'
      ? await sql`select type, name, sql from sqlite_schema order by type, name`.execute(query)
      : await sql`select 'column', table_name, column_name, data_type, is_nullable from information_schema.columns where table_schema = 'public'
          union all select 'index', tablename, indexname, indexdef, '' from pg_indexes where schemaname = 'public'
          union all select 'rule', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '' from pg_constraint
            where connamespace = 'public'::regnamespace
          order by 1, 2, 3, 4`.execute(query)
  return rows
}

const within = async <T>(options: StorageOptions, work: (db: Db) => Promise<T>): Promise<T> => {
  const { db, close } = await openRaw(options)
  try {
    return await work(db)
  } finally {
    await close()
  }
}

const step = (version: number, ...statements: string[]): Migration => ({ version, statements: () => statements })

describe.each(databases)('migrate on $name', (database) => {
  afterAll(() => database.stop())

  test('migrations are numbered without gaps', () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
  })

  // Data in a released database must survive. Each new version adds its migration and its row here.
  test.each(Array.from({ length: newest + 1 }, (_, version) => version))(
    'brings a database of version %i to the newest, as if it had just been created',
    async (version) => {
      const [old, fresh] = [await database.create(), await database.create()]
      await within(old, (db) => migrate(db, { migrations: migrations.slice(0, version) }))
      expect(await within(old, migrate)).toEqual({ from: version, to: newest })
      await within(fresh, migrate)
      const shape = await within(old, readSchema)
      expect(shape.length).toBeGreaterThan(20)
      expect(shape).toEqual(await within(fresh, readSchema))
    },
  )

  test('preserves the accounts and the usage of version 6 under their new names', async () => {
    const options = await database.create()
    await within(options, async (db) => {
      await migrate(db, { migrations: migrations.slice(0, 6) })
      await sql`insert into users (id, mail, mail_folded, password, state, role, created_at)
        values ('usr_1', 'Ann@example.org', 'ann@example.org', 'x', 'active', 'user', 0)`.execute(db.query)
      await sql`insert into usage_keys (key_id, app_id, user_id) values ('key_1', null, 'usr_1')`.execute(db.query)
      const counts = '[["eth_call",0,"answered",2,10,2],["eth_call",0,"callerGone",1]]'
      await sql`insert into usage_days (at, key_id, total, counts) values (0, 'key_1', 3, ${counts})`.execute(db.query)
      await migrate(db)
    })
    const storage = await openStorage(options)
    expect(await storage.users.findByEmail('ANN@example.org')).toMatchObject({ id: 'usr_1', email: 'Ann@example.org' })
    expect(await storage.users.create({ email: 'ann@example.org', password: 'x', now: 1 })).toBe('emailTaken')
    await storage.close()
    const { rows } = await within(options, ({ query }) =>
      sql<{ counts: string }>`select counts from usage_days`.execute(query),
    )
    expect(rows).toEqual([{ counts: '[["eth_call",0,"succeeded",2,10,2],["eth_call",0,"disconnected",1]]' }])
  })

  test('email addresses of version 15 are found by their identity; look-alikes stay apart and are reported', async () => {
    const options = await database.create()
    await within(options, async (db) => {
      await migrate(db, { migrations: migrations.slice(0, 15) })
      const rows = [
        // As version 15 folded them: without converting the domain.
        ['usr_1', 'Ann@example.org', 'ann@example.org'],
        ['usr_2', 'adm\u{131}n@corp.example', 'admin@corp.example'],
        ['usr_3', 'bob@xn--bcher-kva.example', 'bob@xn--bcher-kva.example'],
        ['usr_4', 'eve@fass.example', 'eve@fass.example'],
        ['usr_5', 'eve@xn--fa-hia.example', 'eve@xn--fa-hia.example'],
        ['usr_6', 'root@127.0.0.1', 'root@127.0.0.1'],
        ['usr_7', 'tom@日本語。jp', 'tom@日本語。jp'],
      ]
      for (const [id, email, folded] of rows)
        await sql`insert into users (id, email, email_folded, password, state, role, created_at)
          values (${id}, ${email}, ${folded}, 'x', 'active', 'user', 0)`.execute(db.query)
      await migrate(db)
    })
    const storage = await openStorage(options)
    const find = async (email: string) => (await storage.users.findByEmail(email))?.id
    expect(await find('ANN@example.org')).toBe('usr_1')
    expect(await find('admin@corp.example')).toBeUndefined()
    expect(await find('ADM\u{131}N@corp.example')).toBe('usr_2')
    for (const domain of ['xn--bcher-kva.example', 'BÜCHER.example']) expect(await find(`bob@${domain}`)).toBe('usr_3')
    expect(await find('eve@fass.example')).toBe('usr_4')
    for (const domain of ['xn--fa-hia.example', 'faß.example']) expect(await find(`eve@${domain}`)).toBe('usr_5')
    expect(await find('root@127.0.0.1')).toBeUndefined()
    for (const domain of ['日本語.jp', 'xn--wgv71a119e.jp']) expect(await find(`tom@${domain}`)).toBe('usr_7')
    const create = (email: string) => storage.users.create({ email, password: 'x', now: 1 })
    expect(await create('admin@corp.example')).toBe('emailSimilar')
    expect(await create('bob@bücher.example')).toBe('emailTaken')
    // An account may verify the address that it has, also if another one looks like it.
    expect(await storage.users.setVerifiedEmail('usr_5', 'eve@faß.example', 2)).toBe(true)
    expect(await storage.users.setVerifiedEmail('usr_4', 'eve@faß.example', 2)).toBe('emailTaken')
    expect(await storage.users.setVerifiedEmail('usr_1', 'bob@b\u{fc}cher.example', 2)).toBe('emailTaken')
    const reported = await storage.auditLog.list({ limit: 10 })
    expect(reported.map(({ action, subject, detail }) => [action, subject, detail]).toReversed()).toEqual([
      ['account.emailSimilar', 'usr_5', { other: 'usr_4' }],
      ['account.emailSimilar', 'usr_4', { other: 'usr_5' }],
      ['account.emailInvalid', 'usr_6', null],
    ])
    await storage.close()
  })

  test('email addresses of version 16 with Cyrillic letters are folded to Latin ones, or stay apart and are reported once', async () => {
    const options = await database.create()
    await within(options, async (db) => {
      await migrate(db, { migrations: migrations.slice(0, 16) })
      const rows = [
        // As version 16 folded them: with the domain in Unicode.
        ['usr_1', '\u{430}dmin@corp.example', '\u{430}dmin@corp.example'],
        ['usr_2', 'kim@\u{430}pple.example', 'kim@\u{430}pple.example'],
        ['usr_3', 'kim@apple.example', 'kim@apple.example'],
        ['usr_4', 'root@127.0.0.1', 'root@127.0.0.1'],
      ]
      for (const [id, email, folded] of rows)
        await sql`insert into users (id, email, email_folded, password, state, role, created_at)
          values (${id}, ${email}, ${folded}, 'x', 'active', 'user', 0)`.execute(db.query)
      await sql`insert into audit_log (at, actor, action, subject)
        values (0, 'keyrail', 'account.emailInvalid', 'usr_4')`.execute(db.query)
      await migrate(db)
    })
    const storage = await openStorage(options)
    const find = async (email: string) => (await storage.users.findByEmail(email))?.id
    expect(await find('\u{430}dmin@corp.example')).toBe('usr_1')
    expect(await find('admin@corp.example')).toBeUndefined()
    for (const domain of ['\u{430}pple.example', 'xn--pple-43d.example'])
      expect(await find(`kim@${domain}`)).toBe('usr_2')
    expect(await find('kim@apple.example')).toBe('usr_3')
    const create = (email: string) => storage.users.create({ email, password: 'x', now: 1 })
    expect(await create('admin@corp.example')).toBe('emailSimilar')
    const reported = await storage.auditLog.list({ limit: 10 })
    expect(reported.map(({ action, subject, detail }) => [action, subject, detail]).toReversed()).toEqual([
      ['account.emailInvalid', 'usr_4', null],
      ['account.emailSimilar', 'usr_2', { other: 'usr_3' }],
      ['account.emailSimilar', 'usr_3', { other: 'usr_2' }],
    ])
    await storage.close()
  })

  test('preserves the usage of version 8, rolled up or not', async () => {
    const options = await database.create()
    const hour = 3_600_000
    const day = 24 * hour
    const today = Math.floor(Date.now() / day) * day
    await within(options, async ({ query, kind }) => {
      await migrate({ query, kind }, { migrations: migrations.slice(0, 8) })
      const counts = '[["eth_call",0,"succeeded",2,10,2]]'
      // Yesterday is rolled up to 22:00, and the day before into a day. One row is of an instance whose clock is ahead.
      const minutes = [today - day, today - 2 * hour, today - hour, today, today + 2 * day]
      for (const at of minutes)
        await sql`insert into usage_minutes (at, key_id, run, total, counts) values (${at}, 'key_1', 'run', 2, ${counts})`.execute(
          query,
        )
      for (const at of [today - 2 * day, today - day])
        await sql`insert into usage_hours (at, key_id, total, counts) values (${at}, 'key_1', 2, ${counts})`.execute(
          query,
        )
      await sql`insert into usage_days (at, key_id, total, counts) values (${today - 2 * day}, 'key_1', 2, ${counts})`.execute(
        query,
      )
      await sql`update usage_state set hours_to = ${today - 2 * hour}, rolling_to = ${today - hour}, days_to = ${today - day},
        minutes_from = ${today - day}, hours_from = ${today - 2 * day}, days_from = ${today - 2 * day}, version = 7`.execute(
        query,
      )
    })
    const storage = await openStorage(options)
    expect(await readState(storage.db)).toEqual({
      minutesFrom: today - day,
      hoursFrom: today - 2 * day,
      daysFrom: today - 2 * day,
      hoursTo: today - 2 * hour,
      daysTo: today - day,
    })
    /** How many hours from today each point with calls is, and its calls. */
    const read = async (step: 'minute' | 'hour' | 'day'): Promise<readonly (readonly number[])[]> => {
      const period = { from: today - 3 * day, to: today + 3 * day, step }
      const { series } = await createReadMetrics({ storage })({ subject: { keyId: 'key_1' }, ...period })
      return series.filter(({ total }) => total > 0).map(({ at, total }) => [(at - today) / hour, total])
    }
    const before = [await read('minute'), await read('hour'), await read('day')]
    expect(before[2]).toEqual([
      [-48, 2],
      [-24, 6],
      [0, 2],
      [48, 2],
    ])
    expect(before[1]?.map(([at]) => at)).toEqual([-48, -24, -2, -1, 0, 48])
    if (storage.db.kind === 'postgres') await createPartitions(storage.db, 'usage_minutes', today)
    await rollUp(storage, { now: today + 4 * day })
    expect(await readState(storage.db)).toMatchObject({ hoursTo: Infinity, daysTo: Infinity })
    expect([await read('minute'), await read('hour'), await read('day')]).toEqual(before)
    await storage.close()
  })

  test('changes nothing the second time', async () => {
    const options = await database.create()
    const storage = await openStorage(options)
    const { id } = await addUser(storage)
    await addApiKey(storage, { userId: id })
    await storage.close()
    const before = await within(options, readSchema)
    expect(await within(options, migrate)).toEqual({ from: newest, to: newest })
    expect(await within(options, readSchema)).toEqual(before)
    const again = await openStorage(options)
    expect(await again.keys.listApiKeys(id)).toHaveLength(1)
    await again.close()
  })

  test('applies each migration once when eight processes migrate', async () => {
    const options = await database.create()
    const opened = await Promise.all(Array.from({ length: 8 }, () => openRaw(options)))
    const results = await Promise.all(opened.map(({ db }) => migrate(db)))
    await Promise.all(opened.map(({ close }) => close()))
    expect(results.filter(({ from }) => from === 0)).toHaveLength(1)
    expect(results.every(({ to }) => to === newest)).toBe(true)
  })

  test('a program works with newer tables that support its version, and does not change them', async () => {
    const options = await database.create()
    const newer = [
      ...migrations,
      step(newest + 1, 'create table tomorrow (id text)'),
      step(newest + 2, 'create table later (id text)'),
    ]
    await within(options, (db) => migrate(db, { migrations: newer }))
    const before = await within(options, readSchema)
    const storage = await openStorage(options)
    expect(await storage.users.create({ email: 'ann@example.org', password: 'x', now: 1 })).toMatchObject({
      state: 'active',
    })
    await storage.close()
    expect(await within(options, migrate)).toEqual({ from: newest + 2, to: newest + 2 })
    expect(await within(options, readSchema)).toEqual(before)
  })

  test('rejects a database that is too new for the program, and does not change it', async () => {
    const options = await database.create()
    const newer = [
      ...migrations,
      { ...step(newest + 1, 'create table tomorrow (id text)'), oldestSupported: newest + 1 },
    ]
    await within(options, (db) => migrate(db, { migrations: newer }))
    const before = await within(options, readSchema)
    await expect(openStorage(options)).rejects.toThrow(
      `the database has version ${newest + 1}, but this program only knows versions up to ${newest}: run a newer program, or restore an older backup`,
    )
    expect(await within(options, readSchema)).toEqual(before)
  })

  test('rolls a failed migration back, and preserves the earlier ones', async () => {
    const options = await database.create()
    const broken = [
      ...migrations,
      step(newest + 1, 'create table good (id text)'),
      step(newest + 2, 'create table half (id text)', 'create table half (id text)'),
    ]
    await expect(within(options, (db) => migrate(db, { migrations: broken }))).rejects.toSatisfy(isStorageError)
    const names = JSON.stringify(await within(options, readSchema))
    expect([names.includes('good'), names.includes('half')]).toEqual([true, false])
    const fixed = [...broken.slice(0, -1), step(newest + 2, 'create table half (id text)')]
    expect(await within(options, (db) => migrate(db, { migrations: fixed }))).toEqual({
      from: newest + 1,
      to: newest + 2,
    })
  })
})
