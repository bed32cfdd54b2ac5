import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import type { Step } from '../../src/storage/database.ts'
import { databases } from './databases.ts'

const toStep = (text: string, ...values: Step['values'][]): Step => ({ text, values: values.flat() })
const insert = (id: string): Step =>
  toStep(`insert into usage_keys (key_id, app_id, user_id) values ('${id}', null, null)`)
const list = toStep('select key_id from usage_keys order by key_id')

describe.each(databases)('writes outside the repositories on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  beforeEach(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterEach(() => storage.close())
  afterAll(() => database.stop())

  test.each([{ light: false }, { light: true }])('run in order, and return their rows (%j)', async (how) => {
    const rows = await storage.write([insert('b'), insert('a'), list], how)
    expect(rows).toEqual([[], [], [{ key_id: 'a' }, { key_id: 'b' }]])
    expect(await storage.db.query.selectFrom('usageKeys').select('keyId').execute()).toHaveLength(2)
  })

  test('run all or none, and errors contain no values', async () => {
    const error: unknown = await storage
      .write([insert('first'), insert('hunter2'), insert('hunter2')])
      .catch((caught: unknown) => caught)
    expect(isStorageError(error, 'conflict')).toBe(true)
    expect(String(error)).not.toContain('hunter2')
    expect((await storage.write([list]))[0]).toEqual([])
  })

  test('many concurrent writes all succeed', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, index) => storage.write([insert(`key_${index}`)])))
    expect((await storage.write([list]))[0]).toHaveLength(200)
  })

  test('in flight complete before close; later ones are rejected', async () => {
    const last = storage.write([insert('last')])
    await last
    await storage.close()
    await expect(storage.write([list])).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    expect(storage.writeNow(list)).toBeUndefined()
    storage = await openStorage(options)
    expect((await storage.write([list]))[0]).toEqual([{ key_id: 'last' }])
  })
})

describe.each(databases.filter(({ name }) => name === 'sqlite'))('synchronous writes on $name', (database) => {
  afterAll(() => database.stop())

  test('run, unless the file is locked or they fail', async () => {
    const options = await database.create()
    if (!('file' in options)) throw new Error('unreachable')
    const storage = await openStorage(options)
    expect(storage.writeNow(insert('a'))).toEqual([])
    expect(storage.writeNow(insert('a'))).toBeUndefined()
    const other = new DatabaseSync(options.file, { timeout: 0 })
    other.exec('begin immediate')
    expect(storage.writeNow(insert('b'))).toBeUndefined()
    // The writer thread waits for the lock.
    const waits = storage.write([insert('c')])
    other.exec('commit')
    other.close()
    await waits
    expect(storage.writeNow(list)).toEqual([{ key_id: 'a' }, { key_id: 'c' }])
    await storage.close()
  })
})
