import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openStorage } from '../storage/openStorage.ts'
import { backUp, restore } from './backUp.ts'

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

describe('a backup', () => {
  // 15.34
  test('of a file that is not a database is a config error with the reason', () => {
    writeFileSync(database, 'no database at all, but long enough to be taken for one'.repeat(20))
    expect(() => backUp(database, copy)).toThrow(
      'storage.file cannot be used: it is not an SQLite database (SQLite 26)',
    )
    expect(readdirSync(folder)).toEqual(['keyrail.db'])
  })

  test('is whole while the service runs, its owner alone can read it, and what is written later is not in it', async () => {
    const storage = await openStorage({ file: database })
    await storage.users.create({ email: 'ann@example.org', password: 'x', now: 1 })
    // What is committed may still be in the log beside the file.
    expect(existsSync(`${database}-wal`)).toBe(true)
    backUp(database, copy)
    await storage.users.create({ email: 'bob@example.org', password: 'x', now: 1 })
    await storage.close()
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(await emailsIn(copy)).toEqual(['ann@example.org'])
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  test('never takes the place of a file, and needs a database', async () => {
    await addUser(database, 'ann@example.org')
    writeFileSync(copy, 'mine')
    expect(() => backUp(database, copy)).toThrow('is there already')
    expect(readFileSync(copy, 'utf8')).toBe('mine')
    expect(() => backUp(join(folder, 'none.db'), join(folder, 'other.db'))).toThrow('names no file')
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
  })
})

describe('a restore', () => {
  test('brings back what was, keeps what it replaced, and plays no log of before into it', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    await addUser(database, 'bob@example.org')
    const before = restore(database, copy, { now: 0 })
    expect(before).toBe(`${database}.before-1970-01-01T00-00-00-000Z`)
    expect(await emailsIn(database)).toEqual(['ann@example.org'])
    expect(statSync(database).mode & 0o777).toBe(0o600)
    expect(await emailsIn(before ?? '')).toEqual(['ann@example.org', 'bob@example.org'])
  })

  test('makes a database where there was none', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const other = join(folder, 'other.db')
    expect(restore(other, copy)).toBe(undefined)
    expect(await emailsIn(other)).toEqual(['ann@example.org'])
  })

  test('is rejected while a service has the database open', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const storage = await openStorage({ file: database })
    expect(() => restore(database, copy)).toThrow('is in use: stop the service first')
    await storage.users.create({ email: 'bob@example.org', password: 'x', now: 1 })
    await storage.close()
    expect(await emailsIn(database)).toEqual(['ann@example.org', 'bob@example.org'])
  })

  test.each<[string, (file: string) => void]>([
    ['no database', (file) => writeFileSync(file, 'x'.repeat(9_000))],
    ['an empty file', (file) => writeFileSync(file, '')],
    [
      'a database of something else',
      (file) => {
        const other = new DatabaseSync(file)
        other.exec('create table notes (text)')
        other.close()
      },
    ],
    [
      'a copy with a hole',
      (file) => {
        backUp(database, file)
        const bytes = readFileSync(file)
        bytes.fill(0x5a, 8_192, 20_480)
        writeFileSync(file, bytes)
      },
    ],
  ])('rejects %s, and changes nothing', async (_what, spoil) => {
    await addUser(database, 'ann@example.org')
    spoil(copy)
    expect(() => restore(database, copy)).toThrow('is no whole database of Keyrail')
    expect(await emailsIn(database)).toEqual(['ann@example.org'])
  })

  test('rejects what a newer version wrote', async () => {
    await addUser(database, 'ann@example.org')
    backUp(database, copy)
    const newer = new DatabaseSync(copy)
    newer.exec('update schema_version set version = 999')
    newer.close()
    expect(() => restore(database, copy)).toThrow('newer version')
  })
})
