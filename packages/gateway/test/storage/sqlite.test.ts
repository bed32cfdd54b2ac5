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

describe('storage in an SQLite file', () => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-sqlite-'))
    file = join(folder, 'keyrail.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is only readable by its owner, including its log and index', async () => {
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

  test('uses settings that survive a power cut, and enforces foreign keys', async () => {
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

  test('has all confirmed writes after a SIGKILL during writes', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=@keyrail/source', join(import.meta.dirname, 'writeUntilKilled.ts'), file],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.split('\n').length > 50) child.kill('SIGKILL')
    })
    const [, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    const storage = await openStorage({ file })
    // The last line may be cut off.
    const ids = output.split('\n').slice(0, -1)
    expect(ids.length).toBeGreaterThanOrEqual(50)
    for (const id of ids) expect(await storage.users.find(id)).toMatchObject({ id })
    await storage.close()
  })

  test('stores no key in plain text in any file', async () => {
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

  test('does not block the event loop while a thousand queries are queued', async () => {
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

  test('waits for another process that writes without blocking the thread, and still looks up keys', async () => {
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

  test('fails with a clear error while another process keeps the lock, and works again afterwards', async () => {
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

  test('rejects work in a transaction that would wait for that transaction', async () => {
    const database = new DatabaseSync(file, { timeout: 0 })
    const query = new Kysely<object>({ dialect: createSqliteDialect(database, { waitMs: 30 }) })
    await expect(query.transaction().execute(() => sql`select 1`.execute(query))).rejects.toSatisfy((error) =>
      isStorageError(error, 'busy'),
    )
    await expect(sql`select 1 as one`.execute(query)).resolves.toMatchObject({ rows: [{ one: 1 }] })
    await query.destroy()
  })

  test('waits for work in flight on close, can be closed twice, and then rejects queries', async () => {
    const storage = await openStorage({ file })
    const { id } = await addUser(storage)
    const writing = storage.users.setPassword(id, '$argon2id$y')
    await Promise.all([storage.close(), storage.close()])
    expect(await writing).toBe(true)
    await expect(storage.ping()).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    expect(() => storage.findAccess('0'.repeat(64))).toThrow('the database is closed')
    const again = await openStorage({ file })
    expect(await again.users.find(id)).toMatchObject({ password: '$argon2id$y' })
    await again.close()
  })

  test('does not include values in errors', async () => {
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

  test('uses a path literally, even if SQLite would parse it as a URL', async () => {
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

  test('rejects a file that is not a database or has no folder with a clear error', async () => {
    await expect(openStorage({ file: join(folder, 'none', 'keyrail.db') })).rejects.toThrow(
      'the database file cannot be opened or created (ENOENT)',
    )
    await expect(openStorage({ file: import.meta.filename })).rejects.toSatisfy((error) =>
      isStorageError(error, 'failed'),
    )
  })

  test.each([
    ['nothing', {}, 'storage needs either a file or a databaseUrl'],
    ['both', { file: 'a', databaseUrl: 'postgres://a' }, 'storage needs either a file or a databaseUrl'],
    ['memory', { file: ':memory:' }, 'in-memory storage is not supported'],
    ['a number', { databaseUrl: 5 }, 'databaseUrl must be a string'],
    ['another URL', { databaseUrl: 'mysql://u:hunter2@h/d' }, 'databaseUrl must be a URL such as postgres://'],
  ])('rejects options with %s', async (_, options, message) => {
    const error: unknown = await openStorage(options as StorageOptions).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('hunter2')
  })
})
