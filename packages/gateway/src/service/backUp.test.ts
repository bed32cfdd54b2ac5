import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openStorage } from '../storage/openStorage.ts'
import { backUp, restore } from './backUp.ts'
import { BackupError } from './backupError.ts'

const top = mkdtempSync(join(tmpdir(), 'keyrail-backup-'))
afterAll(() => rmSync(top, { recursive: true, force: true }))

let folder = ''
let database = ''
let copy = ''
beforeEach(() => {
  folder = mkdtempSync(join(top, 'one-'))
  database = join(folder, 'keyrail.db')
  copy = join(folder, 'copy.db')
})

const addUser = async (file: string, email: string): Promise<void> => {
  const storage = await openStorage({ file })
  await storage.users.create({ email, password: '$argon2id$none', now: 1 })
  await storage.close()
}
const emailsIn = async (file: string): Promise<string[]> => {
  const storage = await openStorage({ file })
  const users = await storage.users.list({ limit: 10 })
  await storage.close()
  return users.map(({ email }) => email).toSorted()
}

describe('backUp', () => {
  // 15.34
  test('throws a config error with the reason for a file that is not a database', () => {
    writeFileSync(database, 'not a database, but long enough to look like one'.repeat(20))
    expect(() => backUp(database, copy)).toThrow(
      'storage.file cannot be used: it is not an SQLite database (SQLite 26)',
    )
    expect(readdirSync(folder)).toEqual(['keyrail.db'])
  })

  test('blames the copy, not the database, for a folder that does not exist and for a file in place of a folder', async () => {
    await addUser(database, 'ann@example.org')
    expect(() => backUp(database, join(folder, 'missing/copy.db'))).toThrow(
      'the copy cannot be written: its folder does not exist (ENOENT): create it, or correct the path',
    )
    expect(() => backUp(database, join(database, 'copy.db'))).toThrow(
      /^the copy cannot be written: a part of its path is not a folder \(ENOTDIR\)/,
    )
    expect(() => backUp(database, join(folder, 'missing/copy.db'))).toThrow(BackupError)
  })

  test('copies a snapshot of a database in use to a file that only its owner can read', async () => {
    const storage = await openStorage({ file: database })
    await storage.users.create({ email: 'ann@example.org', password: 'x', now: 1 })
    // Committed rows can still be in the write-ahead log.
    expect(existsSync(`${database}-wal`)).toBe(true)
    backUp(database, copy)
    await storage.users.create({ email: 'bob@example.org', password: 'x', now: 1 })
    await storage.close()
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(await emailsIn(copy)).toEqual(['ann@example.org'])
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  test('does not overwrite a file, and needs a database', async () => {
    await addUser(database, 'ann@example.org')
    writeFileSync(copy, 'mine')
    expect(() => backUp(database, copy)).toThrow('already exists')
    expect(readFileSync(copy, 'utf8')).toBe('mine')
    expect(() => backUp(join(folder, 'none.db'), join(folder, 'other.db'))).toThrow('names a file that does not exist')
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
  })
})

describe('restore', () => {
  test('restores the copy, keeps the previous database, and does not replay its log', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    await addUser(database, 'bob@example.org')
    const before = restore(database, copy, { now: 0 })
    expect(before).toBe(`${database}.before-1970-01-01T00-00-00-000Z`)
    expect(await emailsIn(database)).toEqual(['ann@example.org'])
    expect(statSync(database).mode & 0o777).toBe(0o600)
    expect(await emailsIn(before ?? '')).toEqual(['ann@example.org', 'bob@example.org'])
  })

  test('creates a database that does not exist', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const other = join(folder, 'data/more/other.db')
    expect(restore(other, copy)).toBe(undefined)
    expect(await emailsIn(other)).toEqual(['ann@example.org'])
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700)
  })

  test.skipIf(process.getuid?.() !== 0)('root leaves the database to the user that it belongs to', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    chownSync(database, 1234, 1235)
    restore(database, copy)
    expect(statSync(database)).toMatchObject({ uid: 1234, gid: 1235, mode: 0o100600 })
    const data = join(folder, 'data')
    mkdirSync(data)
    chownSync(data, 1236, 1237)
    restore(join(data, 'keyrail.db'), copy)
    expect(statSync(join(data, 'keyrail.db'))).toMatchObject({ uid: 1236, gid: 1237 })
  })

  test('writes through no link that the owner of the folder has put in its place', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const other = join(folder, 'other')
    writeFileSync(other, 'mine', { mode: 0o644 })
    symlinkSync(other, `${database}.${process.pid}.new`)
    restore(database, copy)
    expect([readFileSync(other, 'utf8'), statSync(other).mode & 0o777]).toEqual(['mine', 0o644])
    expect(await emailsIn(database)).toEqual(['ann@example.org'])
  })

  test('throws while a service has the database open', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const storage = await openStorage({ file: database })
    expect(() => restore(database, copy)).toThrow('is in use: stop the service first')
    await storage.users.create({ email: 'bob@example.org', password: 'x', now: 1 })
    await storage.close()
    expect(await emailsIn(database)).toEqual(['ann@example.org', 'bob@example.org'])
  })

  test.each<[string, (file: string) => void]>([
    ['a file that is not a database', (file) => writeFileSync(file, 'x'.repeat(9_000))],
    ['an empty file', (file) => writeFileSync(file, '')],
    [
      'a database of another program',
      (file) => {
        const other = new DatabaseSync(file)
        other.exec('create table notes (text)')
        other.close()
      },
    ],
    [
      'a damaged copy',
      (file) => {
        backUp(database, file)
        const bytes = readFileSync(file)
        bytes.fill(0x5a, 8_192, 20_480)
        writeFileSync(file, bytes)
      },
    ],
  ])('rejects %s and changes nothing', async (_what, prepare) => {
    await addUser(database, 'ann@example.org')
    prepare(copy)
    expect(() => restore(database, copy)).toThrow('is damaged or not a Keyrail database')
    expect(await emailsIn(database)).toEqual(['ann@example.org'])
  })

  test('rejects a copy from a newer version', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const newer = new DatabaseSync(copy)
    newer.exec('update schema_version set version = 999')
    newer.close()
    expect(() => restore(database, copy)).toThrow('newer version')
  })
})
