import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { StorageOptions } from '../../src/storage/openStorage.ts'
import { createSqliteDialect } from '../../src/storage/sqlite/createSqliteDialect.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import { addApiKey, addApp, addUser } from './fill.ts'
import { openRaw } from './openRaw.ts'

describe('storage in a file of SQLite', () => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-sqlite-'))
    file = join(folder, 'keyrail.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is readable by its owner alone, with its log and its index', async () => {
    const storage = await openStorage({ file })
    await addUser(storage)
    const names = readdirSync(folder).sort()
    expect(names.map((name) => [name, statSync(join(folder, name)).mode & 0o777])).toEqual([
      ['keyrail.db', 0o600],
      ['keyrail.db-shm', 0o600],
      ['keyrail.db-wal', 0o600],
    ])
    await storage.close()
    expect(readdirSync(folder)).toEqual(['keyrail.db'])
  })

  test('keeps what it has said is written through a power cut, and the rules between tables', async () => {
    const { db, close } = await openRaw({ file })
    const setting = async (name: string): Promise<unknown> =>
      Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(db.query)).rows[0] ?? {})[0]
    const full = 2
    expect([await setting('journal_mode'), await setting('synchronous'), await setting('foreign_keys')]).toEqual([
      'wal',
      full,
      1,
    ])
    await close()
  })

  test('has every write that was told of, after a SIGKILL in the middle of writing', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=@keyrail/source', join(import.meta.dirname, 'writeUntilKilled.ts'), file],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let told = ''
    child.stdout.on('data', (chunk: Buffer) => {
      told += chunk.toString()
      if (told.split('\n').length > 50) child.kill('SIGKILL')
    })
    const [, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    const storage = await openStorage({ file })
    // The last line may have been cut.
    const ids = told.split('\n').slice(0, -1)
    expect(ids.length).toBeGreaterThanOrEqual(50)
    for (const id of ids) expect(await storage.users.find(id)).toMatchObject({ id })
    await storage.close()
  })

  test('holds no key as it is, in none of its files', async () => {
    const storage = await openStorage({ file })
    const { id: userId } = await addUser(storage)
    const secret = createServerSecret('s'.repeat(32))
    const { key } = await addApiKey(storage, { userId, secret })
    const other = await addApp(storage, { userId })
    const names = readdirSync(folder)
    expect(names).toContain('keyrail.db-wal')
    const bytes = Buffer.concat(names.map((name) => readFileSync(join(folder, name))))
    expect(bytes.includes(userId)).toBe(true)
    for (const secretText of [key, other.key, 's'.repeat(32)])
      for (const form of [secretText, Buffer.from(secretText).toString('base64').slice(0, -4)])
        expect(bytes.includes(form)).toBe(false)
    await storage.close()
  })

  test('lets other work in between a thousand queries that wait', async () => {
    const storage = await openStorage({ file })
    const { id } = await addUser(storage)
    let done = 0
    const queries = Array.from({ length: 3_000 }, async () => {
      await storage.users.find(id)
      done += 1
    })
    await nextRound()
    expect(done).toBeLessThan(3_000)
    await Promise.all(queries)
    expect(done).toBe(3_000)
    await storage.close()
  })

  test('waits for another process that writes without holding the thread, and looks keys up meanwhile', async () => {
    const storage = await openStorage({ file })
    const { id: userId } = await addUser(storage)
    const { hash } = await addApiKey(storage, { userId })
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    let written = false
    const writing = addUser(storage).then(() => {
      written = true
    })
    for (let round = 0; round < 200; round += 1) await nextRound()
    expect(written).toBe(false)
    expect(storage.findAccess(hash)).toMatchObject({ user: { id: userId } })
    other.exec('commit')
    other.close()
    await writing
    expect(written).toBe(true)
    await storage.close()
  })

  test('gives up on another process that never ends, with a clear error, and works again after it', async () => {
    const database = new DatabaseSync(file, { timeout: 0 })
    database.exec('pragma journal_mode = wal; create table t (a)')
    const query = new Kysely<{ t: { a: number } }>({ dialect: createSqliteDialect(database, { waitMs: 30 }) })
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const insert = () => query.insertInto('t').values({ a: 1 }).execute()
    await expect(insert()).rejects.toSatisfy((error) => isStorageError(error, 'busy'))
    await expect(query.transaction().execute(() => insert())).rejects.toSatisfy((error) =>
      isStorageError(error, 'busy'),
    )
    other.exec('rollback')
    other.close()
    await insert()
    expect(await query.selectFrom('t').selectAll().execute()).toEqual([{ a: 1 }])
    await query.destroy()
  })

  test('rejects work inside a transaction that waits for that transaction', async () => {
    const database = new DatabaseSync(file, { timeout: 0 })
    const query = new Kysely<object>({ dialect: createSqliteDialect(database, { waitMs: 30 }) })
    await expect(query.transaction().execute(() => sql`select 1`.execute(query))).rejects.toSatisfy((error) =>
      isStorageError(error, 'busy'),
    )
    await expect(sql`select 1 as one`.execute(query)).resolves.toMatchObject({ rows: [{ one: 1 }] })
    await query.destroy()
  })

  test('closes after what is in flight, twice without harm, and then rejects', async () => {
    const storage = await openStorage({ file })
    const writing = addUser(storage)
    await Promise.all([storage.close(), storage.close()])
    const { id } = await writing
    await expect(storage.ping()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    expect(() => storage.findAccess('0'.repeat(64))).toThrow('the database is closed')
    const again = await openStorage({ file })
    expect(await again.users.find(id)).toMatchObject({ id })
    await again.close()
  })

  test('tells no values in its errors', async () => {
    const storage = await openStorage({ file })
    const { db, close } = await openRaw({ file })
    const { email } = await addUser(storage)
    const error: unknown = await sql`insert into users (id, email, email_folded, password, state, role, created_at)
      values ('usr_1', ${email}, ${email}, 'my-password', 'active', 'user', 0)`
      .execute(db.query)
      .catch((caught: unknown) => caught)
    expect(isStorageError(error, 'conflict')).toBe(true)
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/my-password|example\.org/)
    await Promise.all([close(), storage.close()])
  })

  test('takes a path for a path where SQLite would read a URL of another file, or of none', async () => {
    const name = 'file:keyrail.db?mode=memory'
    vi.spyOn(process, 'cwd').mockReturnValue(folder)
    const storage = await openStorage({ file: name })
    vi.restoreAllMocks()
    const { id: userId } = await addUser(storage)
    const { hash } = await addApiKey(storage, { userId })
    expect(storage.findAccess(hash)).toMatchObject({ user: { id: userId } })
    expect(readdirSync(folder).sort()).toEqual([name, `${name}-shm`, `${name}-wal`])
    await storage.close()
  })

  test('that is no database, or in no folder, is rejected with a clear error', async () => {
    await expect(openStorage({ file: join(folder, 'none', 'keyrail.db') })).rejects.toThrow(
      'the database file cannot be opened or made (ENOENT)',
    )
    await expect(openStorage({ file: import.meta.filename })).rejects.toSatisfy((error) =>
      isStorageError(error, 'failed'),
    )
  })

  test.each([
    ['nothing', {}, 'storage must be given either a file or a databaseUrl'],
    ['both', { file: 'a', databaseUrl: 'postgres://a' }, 'storage must be given either a file or a databaseUrl'],
    ['memory', { file: ':memory:' }, 'there is no storage in memory'],
    ['no text', { databaseUrl: 5 }, 'databaseUrl must be a text'],
    ['another URL', { databaseUrl: 'mysql://u:hunter2@h/d' }, 'databaseUrl must be a URL such as postgres://'],
  ])('is rejected with options that hold %s', async (_, options, message) => {
    const error: unknown = await openStorage(options as StorageOptions).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('hunter2')
  })
})
