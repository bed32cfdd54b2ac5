import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openChainStore } from '../../src/storage/chainStore/openChainStore.ts'
import type { ChainStore } from '../../src/storage/chainStore/chainStore.ts'
import type { ThreadMessage } from '../../src/storage/chainStore/chainThread.ts'
import { fuzzWithKills } from './fuzzWithKills.ts'
import { createTestFolder, openTestStore as open } from './openTestFile.ts'

const chain = 'testnet 1'
const fillDisk = join(import.meta.dirname, 'fillDisk.ts')
const value = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

const addEntries = async (store: ChainStore, count: number): Promise<void> => {
  for (let number = 0; number < count; number += 1)
    void store.addEntry({
      chain,
      upstream: 'one',
      text: `block ${number}`,
      block: number,
      value: value('x'.repeat(900)),
    })
  await expect.poll(() => store.readEntry(`block ${count - 1}`)).toBeDefined()
}

test('what one store writes, another one with the same file reads, also after a restart', async () => {
  const file = join(createTestFolder(), 'data/cache.db')
  const [one, other] = [await open(file), await open(file)]
  await addEntries(one, 10)
  expect(await other.readEntry('block 3')).toEqual(value('x'.repeat(900)))
  await one.close()
  await other.close()
  expect(await one.readEntry('block 3')).toBeUndefined()
  expect(await (await open(file)).readEntry('block 3')).toEqual(value('x'.repeat(900)))
})

test('only the owner of the service can read the file', async () => {
  const file = join(createTestFolder(), 'cache.db')
  await open(file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a path that cannot be written is an error that says how to fix it', async () => {
  const folder = createTestFolder()
  mkdirSync(join(folder, 'cache.db'))
  await expect(open(join(folder, 'cache.db'))).rejects.toThrow('set cache.file to a path that the service can write')
})

test.each([
  ['no database', (file: string) => writeSync(openSync(file, 'r+'), 'x'.repeat(4_096), 0)],
  ['truncated', (file: string) => truncateSync(file, 3_000)],
])('a file that is %s stays as it is, and the store starts with an empty one', async (_, damage) => {
  const folder = createTestFolder()
  const file = join(folder, 'cache.db')
  const before = await open(file)
  await addEntries(before, 200)
  await before.close()
  damage(file)
  const warnings: string[] = []
  const store = await open(file, { warnings })
  const damaged = readFileSync(file)
  expect(warnings).toEqual([expect.stringMatching(/cache\.db is damaged\. The new one .*cache\.db\.2 starts empty\./)])
  expect(await store.readEntry('block 3')).toBeUndefined()
  await addEntries(store, 1)
  expect(readFileSync(file)).toEqual(damaged)
  await store.close()
  // Also without the damaged one.
  rmSync(file)
  expect(await (await open(file)).readEntry('block 0')).toBeDefined()
})

test('damage that shows later turns the store off, and the next start uses an empty file', async () => {
  const file = join(createTestFolder(), 'cache.db')
  const before = await open(file)
  await addEntries(before, 500)
  await before.close()
  // The first pages have the names of the tables.
  const start = Math.ceil(statSync(file).size / 2)
  const bytes = Buffer.alloc(statSync(file).size - start, 0xee)
  writeSync(openSync(file, 'r+'), bytes, 0, bytes.length, start)
  const warnings: string[] = []
  const store = await open(file, { warnings })
  for (let number = 0; number < 500; number += 1) {
    const found = await store.readEntry(`block ${number}`)
    if (found !== undefined) expect(found).toEqual(value('x'.repeat(900)))
  }
  expect(warnings).toEqual([expect.stringContaining('is off until the service is restarted: the file is damaged')])
  expect(await store.readEntry('block 0')).toBeUndefined()
  await store.close()
  const next = await open(file, { warnings })
  expect(warnings.length).toBe(1)
  expect(await next.readEntry('block 0')).toBeUndefined()
  await addEntries(next, 1)
})

test('who only looks at a damaged file gets an error, and changes nothing', async () => {
  const folder = createTestFolder()
  const file = join(folder, 'cache.db')
  await (await open(file)).close()
  writeSync(openSync(file, 'r+'), 'x'.repeat(4_096), 0)
  const before = readdirSync(folder)
  await expect(openChainStore({ file, maxBytes: 1e9, mayReplace: false, warn: () => {} })).rejects.toThrow(
    'restart the service',
  )
  expect(readdirSync(folder)).toEqual(before)
})

test('who only looks at a file of another version gets an error, and changes nothing; the service starts with an empty one', async () => {
  const file = join(createTestFolder(), 'cache.db')
  const store = await open(file)
  await addEntries(store, 1)
  await store.close()
  const database = new DatabaseSync(file)
  database.exec('pragma user_version = 1')
  const count = (): unknown => database.prepare('select count(*) as rows from entries').get()?.['rows']
  await expect(openChainStore({ file, maxBytes: 1e9, mayReplace: false, warn: () => {} })).rejects.toThrow(
    'is of another version of Keyrail',
  )
  expect(count()).toBe(1)
  expect(await (await open(file)).readEntry('block 0')).toBeUndefined()
  expect(count()).toBe(0)
  database.close()
})

test.each([0, 3])('a database of something else with version %i is rejected, and not changed', async (version) => {
  const file = join(createTestFolder(), 'keyrail.db')
  const database = new DatabaseSync(file)
  database.exec(`create table users(name text); insert into users values ('ann'); pragma user_version = ${version}`)
  database.close()
  const before = readFileSync(file)
  await expect(open(file)).rejects.toMatchObject({
    fault: 'unavailable',
    message: expect.stringContaining('set cache.file to a path that nothing else uses') as string,
  })
  expect(readFileSync(file)).toEqual(before)
})

test('the reads of one turn are one message to the thread', async () => {
  const store = await open()
  const sent = vi.spyOn(Worker.prototype, 'postMessage')
  onTestFinished(() => sent.mockRestore())
  await Promise.all(Array.from({ length: 20 }, (_, at) => store.readEntry(`entry ${at}`)))
  const reads = sent.mock.calls.filter(([message]) => JSON.stringify(message).includes('"readEntry"'))
  expect(reads.map(([message]) => (message as ThreadMessage).calls.length)).toEqual([20])
})

test('the results of one message have a limited size: the calls after that find nothing', async () => {
  const store = await open(join(createTestFolder(), 'cache.db'))
  const large = value('x'.repeat(4_000_000))
  const texts = Array.from({ length: 12 }, (_, at) => `large ${at}`)
  for (const text of texts) void store.addEntry({ chain, upstream: 'one', text, block: 1, value: large })
  await expect.poll(() => store.readEntry('large 11')).toBeDefined()
  const reads = texts.map((text) => store.readEntry(text))
  // What is joined was in memory before.
  const joined = store.joinLogs([value('[]')])
  const found = await Promise.all(reads)
  expect(found.map((one) => one !== undefined)).toEqual(texts.map((_, at) => at < 9))
  expect(await joined).toEqual(value('[]'))
})

test('a thread that ends turns the store off', async () => {
  const warnings: string[] = []
  const store = await open(join(createTestFolder(), 'cache.db'), { warnings })
  await addEntries(store, 1)
  // Returns what cannot be sent to another thread.
  await expect(store.call('valueOf' as 'getStats')).rejects.toThrow('has ended')
  await expect.poll(() => warnings).toEqual([expect.stringContaining('one of its threads has ended')])
  expect(await store.readEntry('block 0')).toBeUndefined()
})

test.skipIf(process.platform === 'win32')(
  'a disk that is full stores nothing more, serves nothing wrong, and what is stored stays',
  async () => {
    const file = join(createTestFolder(), 'cache.db')
    const { stdout, status } = spawnSync(
      // A file can grow to 2 or 4 MB, depending on the shell, as on a disk with this much room.
      'sh',
      ['-c', 'ulimit -f 4000; exec "$0" "$@"', process.execPath, '--conditions=@keyrail/source', fillDisk, file],
      { encoding: 'utf8' },
    )
    expect(status).toBe(0)
    const { stored, wrong, dropped, warnings } = JSON.parse(stdout) as Record<string, unknown>
    expect({ wrong, warnings }).toEqual({ wrong: 0, warnings: [] })
    expect(stored).toBeGreaterThan(10)
    expect(dropped).toMatchObject({ queue: 0, invalid: 0 })
    expect((dropped as { disk: number }).disk).toBeGreaterThan(10)
    // With room again.
    const store = await open(file)
    expect(await store.readEntry('entry 0')).toBeDefined()
    await addEntries(store, 1)
  },
)

test('a process that is killed while it writes leaves a file that others read, with nothing wrong', async () => {
  const file = join(createTestFolder(), 'cache.db')
  const results = await fuzzWithKills({ file, kills: 3, requests: 300, seed: 1 })
  expect(results.map(({ firstWrong }) => firstWrong)).toEqual(Array.from({ length: 6 }, () => undefined))
  // What was stored before is not lost.
  expect(results.at(-1)?.hits).toBeGreaterThan(100)
  expect(existsSync(`${file}.2`)).toBe(false)
})
