import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Storage } from '../../src/storage/openStorage.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { createRequestRecorder, defaultRequestLogSettings } from '../../src/usage/requestLog/createRequestRecorder.ts'
import type { RequestLogSettings, StoredRequestRecorder } from '../../src/usage/requestLog/createRequestRecorder.ts'
import type { Outcome } from '../../src/usage/metering/meter.ts'
import type { RecordedRequest } from '../../src/usage/requestLog/requestRecorder.ts'
import { createRequestLogUpkeep } from '../../src/usage/requestLog/requestLogUpkeep.ts'
import { toRequestSteps } from '../../src/usage/requestLog/requestLogRows.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { joinAlongside } from '../../src/usage/metering/joinAlongside.ts'
import { dayMs } from '../../src/lib/time.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { createRequestRow } from './createRequestRow.ts'

const noon = Date.UTC(2026, 10, 21, 12)

const createRecorded = (request: Partial<RecordedRequest> = {}): RecordedRequest => ({
  keyId: 'key_1',
  method: 'eth_call',
  outcome: 'nodeError',
  error: { code: 3, message: 'execution reverted' },
  status: 200,
  durationMs: 5,
  network: 'testnet',
  requestId: 'a-request',
  calls: 1,
  failedCalls: 1,
  storedCalls: 0,
  secrets: [],
  keyEnding: 'WXYZ',
  origin: undefined,
  ip: '127.0.0.1',
  requestBytes: 70,
  responseBytes: 40,
  transport: 'http',
  params: undefined,
  response: undefined,
  ...request,
})

/** Asks the log about requests, and records those that it admits. @returns How many. */
const recordAll = (
  log: StoredRequestRecorder,
  count: number,
  { keyId = 'key_1', outcome = 'nodeError' }: { keyId?: string; outcome?: Outcome } = {},
): number => {
  let admitted = 0
  for (let index = 0; index < count; index += 1)
    if (log.admits(keyId, outcome)) {
      admitted += 1
      log.add(createRecorded({ keyId, requestId: `${index}` }))
    }
  return admitted
}

describe.each(suiteDatabases)('the request log on $name', (database) => {
  let storage: Storage
  let clock = noon
  const opened: StoredRequestRecorder[] = []
  beforeAll(async () => {
    storage = await openStorage(await database.create())
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((log) => log.close()))
    clock = noon
    await storage.db.query.deleteFrom('requestLog').execute()
    await storage.db.query.deleteFrom('requestExcerpts').execute()
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
  const open = (settings: Partial<RequestLogSettings> | undefined = {}, more: object = {}): StoredRequestRecorder => {
    const all = { ...defaultRequestLogSettings, ...settings }
    const log = createRequestRecorder({ storage, settings: () => all, now: () => clock, prepareMs: 60_000, ...more })
    opened.push(log)
    return log
  }
  /** Writes what is recorded, as the meter does. */
  const flush = async (log: StoredRequestRecorder): Promise<void> => {
    await log.prepare()
    for (let batch = log.take(); batch !== undefined; batch = log.take())
      await storage.write(batch.steps, { light: true })
  }
  const readIds = async (keyId = 'key_1'): Promise<readonly string[]> =>
    (await storage.requestLog.list({ keyId, limit: 10_000 })).map(({ requestId }) => requestId)
  const write = async (rows: readonly ReturnType<typeof createRequestRow>[]): Promise<void> => {
    for (let start = 0; start < rows.length; start += 250)
      await storage.write(toRequestSteps(storage.db.kind, rows.slice(start, start + 250)))
  }

  test('writes what it recorded, with excerpts', async () => {
    const log = open()
    log.add(createRecorded({ params: '["0x1"]', response: '{"code":3}' }))
    await flush(log)
    const [row] = await storage.requestLog.list({ keyId: 'key_1', limit: 9 })
    expect(row).toMatchObject({
      at: noon,
      method: 'eth_call',
      code: 3,
      message: 'execution reverted',
      durationUs: 5_000,
    })
    const { at = 0, id = '' } = row ?? {}
    expect(await storage.requestLog.findExcerpts({ keyId: 'key_1', at, id, from: 0 })).toEqual({
      params: '["0x1"]',
      response: '{"code":3}',
    })
  })

  test('is written by the meter, and the rest when it closes', async () => {
    const log = open({ maxPerMinute: 2_000 }, { prepareMs: 5 })
    const meter = createMeter({ storage, now: () => clock, flushMs: 20, rollUpMs: 0, alongside: joinAlongside([log]) })
    log.add(createRecorded({ requestId: 'first' }))
    await expect.poll(() => readIds()).toEqual(['first'])
    clock += 1
    for (let index = 0; index < 600; index += 1) log.add(createRecorded({ requestId: `${index}` }))
    await log.close()
    await meter.close()
    expect(await readIds()).toHaveLength(601)
    log.add(createRecorded())
    expect(log.admits('key_1', 'nodeError')).toBe(false)
    await flush(log)
    expect(await readIds()).toHaveLength(601)
  })

  test('records all failed requests of a key up to the bound of a minute, and counts the others', () => {
    const log = open({ maxPerKeyAndMinute: 5 })
    expect(recordAll(log, 8)).toBe(5)
    expect(recordAll(log, 8, { keyId: 'key_2' })).toBe(5)
    clock += 60_000
    expect(recordAll(log, 8)).toBe(5)
    expect(log.dropped()).toEqual({ keyLimit: 9, limit: 0, buffer: 0, mask: 0, storage: 0 })
  })

  test('records a failure of a key whose contract reverts all day', () => {
    const log = open({ maxPerKeyAndMinute: 5 })
    expect(recordAll(log, 8, { outcome: 'reverted' })).toBe(5)
    expect(recordAll(log, 1)).toBe(1)
    expect(log.dropped()).toMatchObject({ keyLimit: 3 })
  })

  test('lists what failed without what reverted', async () => {
    const outcomes = ['succeeded', 'reverted', 'nodeError', 'rate_limited']
    await write(outcomes.map((outcome) => createRequestRow({ outcome })))
    const list = async (outcome: string): Promise<readonly string[]> =>
      (await storage.requestLog.list({ keyId: 'key_1', outcome, limit: 9 })).map((row) => row.outcome).toSorted()
    expect(await list('failed')).toEqual(['nodeError', 'rate_limited'])
    expect(await list('reverted')).toEqual(['reverted'])
  })

  test('records the first successful requests of a minute and a sample of the others, also bounded', () => {
    const log = open({ sample: 10, firstPerMinute: 3, maxPerKeyAndMinute: 4 })
    expect(recordAll(log, 30, { outcome: 'succeeded' })).toBe(3 + 3)
    expect(recordAll(log, 70, { outcome: 'succeeded' })).toBe(1)
    expect(recordAll(log, 1)).toBe(1)
    expect(log.dropped()).toEqual({ keyLimit: 0, limit: 0, buffer: 0, mask: 0, storage: 0 })
  })

  test('records nothing while it is switched off', () => {
    let isOn = false
    const log = createRequestRecorder({ storage, settings: () => (isOn ? defaultRequestLogSettings : undefined) })
    expect(log.admits('key_1', 'nodeError')).toBe(false)
    isOn = true
    expect(log.admits('key_1', 'nodeError')).toBe(true)
  })

  test('bounds the requests of all keys in a minute', async () => {
    const log = open({ maxPerMinute: 12 })
    for (let key = 0; key < 4; key += 1) recordAll(log, 4, { keyId: `key_${key}` })
    expect(log.dropped()).toEqual({ keyLimit: 0, limit: 4, buffer: 0, mask: 0, storage: 0 })
    await flush(log)
    expect(await readIds('key_3')).toEqual([])
    clock += 60_000
    recordAll(log, 1, { keyId: 'key_4' })
    await flush(log)
    expect(await readIds('key_4')).toEqual(['0'])
  })

  test('a key with many failures leaves room for the first requests of other keys', async () => {
    const log = open({ maxPerMinute: 40 })
    recordAll(log, 60)
    for (let key = 2; key < 7; key += 1) recordAll(log, 10, { keyId: `key_${key}` })
    await flush(log)
    const counts = []
    for (let key = 1; key < 7; key += 1) counts.push((await readIds(`key_${key}`)).length)
    expect(counts).toEqual([20, 5, 5, 5, 5, 0])
  })

  test('requests that cannot be written are dropped and counted, and the next write is without requests', async () => {
    const log = open({ maxPerKeyAndMinute: 10_000, maxPerMinute: 20_000 })
    recordAll(log, 5_300)
    expect(log.dropped().buffer).toBe(300)
    await log.prepare()
    const batch = log.take()
    expect(batch?.rows).toBe(250)
    batch?.failed()
    expect(log.dropped().storage).toBe(250)
    expect(log.take()).toBeUndefined()
    expect(log.take()?.rows).toBe(250)
  })

  test('a request log that cannot be written keeps no counts from being written', async () => {
    const log = open()
    const broken = {
      take: () => {
        const batch = log.take()
        return batch && { ...batch, steps: [{ text: 'insert into no_table values (1)', values: [] }] }
      },
    }
    const meter = createMeter({ storage, now: () => clock, flushMs: 60_000, rollUpMs: 0, alongside: broken })
    meter.count({ id: 'key_counted' }, 'testnet', 'eth_call', 'succeeded', 5)
    log.add(createRecorded())
    await log.prepare()
    await expect(meter.flush()).rejects.toBeInstanceOf(Error)
    log.add(createRecorded())
    await log.prepare()
    await meter.flush()
    const counted = await storage.db.query
      .selectFrom('usageMinutes')
      .select('total')
      .where('keyId', '=', 'key_counted')
      .execute()
    expect(counted).toEqual([{ total: 1 }])
    expect(log.dropped().storage).toBe(1)
    await meter.close()
  })

  test('a request that cannot be masked is dropped, and the others are not', async () => {
    const log = open()
    log.add(createRecorded({ secrets: undefined as never }))
    log.add(createRecorded({ requestId: 'other' }))
    await flush(log)
    expect(await readIds()).toEqual(['other'])
    expect(log.dropped().mask).toBe(1)
  })

  test('stores only the newest requests of a key', async () => {
    const log = open({ maxPerKeyAndMinute: 10_000, maxPerMinute: 10_000, maxPerKey: 100 })
    await write([createRequestRow({ keyId: 'key_2', at: noon - 1, requestId: 'other' })])
    for (let index = 0; index < 400; index += 1) {
      clock += 1
      log.add(createRecorded({ requestId: `${index}` }))
    }
    await flush(log)
    // Removed before what is being written is there.
    for (let index = 400; index < 412; index += 1) {
      clock += 1
      log.add(createRecorded({ requestId: `${index}` }))
    }
    await flush(log)
    await expect.poll(async () => (await readIds()).length).toBeLessThanOrEqual(112)
    const ids = await readIds()
    expect(ids[0]).toBe('411')
    expect(ids.length).toBeGreaterThanOrEqual(100)
    expect(await readIds('key_2')).toEqual(['other'])
  })

  test('removes all requests of a key, those that wait to be written included', async () => {
    const log = open()
    await write(
      Array.from({ length: 600 }, (_, index) =>
        createRequestRow({ at: noon - index }, { params: '[]', response: null }),
      ),
    )
    await write([createRequestRow({ keyId: 'key_2', requestId: 'other' })])
    log.add(createRecorded())
    log.add(createRecorded({ keyId: 'key_2', requestId: 'new' }))
    await log.remove(['key_1'])
    await flush(log)
    expect(await readIds()).toEqual([])
    expect(await storage.db.query.selectFrom('requestExcerpts').selectAll().execute()).toEqual([])
    expect((await readIds('key_2')).toSorted()).toEqual(['new', 'other'])
  })

  test('maintenance removes requests past their retention, and excerpts after 24 hours', async () => {
    const upkeep = createRequestLogUpkeep(storage, { retentionMs: 2 * dayMs })
    const stopped = (): boolean => false
    const startOfDay = Date.UTC(2026, 10, 21)
    // Before its day has a partition, and after.
    await write([createRequestRow({ at: startOfDay, requestId: 'first' }, { params: '[]', response: '1' })])
    await upkeep.prepare(startOfDay)
    await write([createRequestRow({ at: startOfDay + dayMs, requestId: 'second' }, { params: '[]', response: '1' })])
    const readExcerpts = async (): Promise<number> =>
      (await storage.db.query.selectFrom('requestExcerpts').select('id').execute()).length
    await upkeep.prune({ now: startOfDay + 2 * dayMs, stopped })
    expect([await readIds(), await readExcerpts()]).toEqual([['second', 'first'], 1])
    await upkeep.prune({ now: startOfDay + 3 * dayMs, stopped })
    expect([await readIds(), await readExcerpts()]).toEqual([['second'], 0])
    await upkeep.prune({ now: startOfDay + 4 * dayMs, stopped })
    expect(await readIds()).toEqual([])
  })
})
