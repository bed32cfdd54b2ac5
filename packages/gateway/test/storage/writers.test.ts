import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { isStorageError } from '../../src/errors/storageError.ts'
import type { Step } from '../../src/storage/write.ts'
import { databases } from './databases.ts'

const kept = (text: string, ...values: Step['values'][]): Step => ({ text, values: values.flat() })
const insert = (id: string): Step =>
  kept(`insert into usage_keys (key_id, app_id, user_id) values ('${id}', null, null)`)
const list = kept('select key_id from usage_keys order by key_id')

describe.each(databases)('writes beside the repositories on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  beforeEach(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterEach(() => storage.close())
  afterAll(() => database.stop())

  test.each([{ light: false }, { light: true }])('are done in order, and give their rows (%j)', async (how) => {
    const rows = await storage.write([insert('b'), insert('a'), list], how)
    expect(rows).toEqual([[], [], [{ key_id: 'a' }, { key_id: 'b' }]])
    expect(await storage.db.query.selectFrom('usageKeys').select('keyId').execute()).toHaveLength(2)
  })

  test('are done all or none, and what went wrong tells no values', async () => {
    const error: unknown = await storage
      .write([insert('first'), insert('hunter2'), insert('hunter2')])
      .catch((caught: unknown) => caught)
    expect(isStorageError(error, 'conflict')).toBe(true)
    expect(String(error)).not.toContain('hunter2')
    expect((await storage.write([list]))[0]).toEqual([])
  })

  test('many at once are all done', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, index) => storage.write([insert(`key_${index}`)])))
    expect((await storage.write([list]))[0]).toHaveLength(200)
  })

  test('that are in flight are done before it is closed; none is after', async () => {
    const last = storage.write([insert('last')])
    await last
    await storage.close()
    await expect(storage.write([list])).rejects.toSatisfy((error) => isStorageError(error, 'unavailable'))
    expect(storage.writeNow(list)).toBeUndefined()
    storage = await openStorage(options)
    expect((await storage.write([list]))[0]).toEqual([{ key_id: 'last' }])
  })
})

describe.each(databases.filter(({ name }) => name === 'sqlite'))('writes at once on $name', (database) => {
  afterAll(() => database.stop())

  test('are done, but where somebody else writes or they fail', async () => {
    const options = await database.create()
    if (!('file' in options)) throw new Error('unreachable')
    const storage = await openStorage(options)
    expect(storage.writeNow(insert('a'))).toEqual([])
    expect(storage.writeNow(insert('a'))).toBeUndefined()
    const other = new DatabaseSync(options.file, { timeout: 0 })
    other.exec('begin immediate')
    expect(storage.writeNow(insert('b'))).toBeUndefined()
    // The other way waits for its turn.
    const waits = storage.write([insert('c')])
    other.exec('commit')
    other.close()
    await waits
    expect(storage.writeNow(list)).toEqual([{ key_id: 'a' }, { key_id: 'c' }])
    await storage.close()
  })
})
