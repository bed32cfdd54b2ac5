import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { getApiKeyUrl } from '../../src/index.ts'
import { dayMs } from '../../src/lib/time.ts'
import { rollUp } from '../../src/usage/metering/rollUp.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { toOldKeyId } from '../../src/storage/toOldKeyId.ts'
import { createRateLimiter } from '../../src/usage/rateLimit/createRateLimiter.ts'
import { createLocalLimits } from '../../src/usage/limits/createLocalLimits.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { readUsage } from '../../src/usage/metering/readUsage.ts'
import type { UsageItem } from '../../src/usage/metering/readUsage.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post, startGateway, unreachableUrl } from '../startGateway.ts'
import { suiteDatabases, sqlite } from '../storage/databases.ts'
import { newKey, start, useMeters } from './useMeters.ts'

const today = start - (start % dayMs)
const period = { from: today - 40 * dayMs, to: today + 2 * dayMs, minRows: 1_000 }

describe.each(suiteDatabases)('the usage of all accounts on $name', (database) => {
  const meters = useMeters(database)

  test('has calls, units and bytes by app or key, network, method and day or month, also once they are rolled up', async () => {
    const app = newKey()
    const { appId: _, ...key } = newKey()
    const meter = meters.open()
    meter.count(app, 'mainnet', 'eth_call', 'succeeded', 1, 3, { units: 30, bytes: 300 })
    meter.count(app, 'mainnet', 'eth_call', 'rate_limited', 1, 2)
    meter.count({ ...app, id: `${app.id}:old` }, 'mainnet', 'eth_call', 'nodeError', 1, 1, { units: 10, bytes: 5 })
    meter.count(key, 'sepolia', 'eth_getLogs', 'succeeded', 1, 1, { units: 75, bytes: 1_000 })
    meters.clock += dayMs
    meter.count(key, 'sepolia', 'eth_getLogs', 'succeeded', 1, 1, { units: 75, bytes: 1_000 })
    await meter.flush()
    const shared = { network: 'sepolia', method: 'eth_getLogs', userId: key.userId, appId: null, keyId: key.id }
    const calls = { network: 'mainnet', method: 'eth_call', userId: app.userId, appId: app.appId, keyId: null }
    const expectedDays = [
      { ...calls, at: '2026-11-21', calls: 6, units: 40, bytes: 305 },
      { ...shared, at: '2026-11-21', calls: 1, units: 75, bytes: 1_000 },
      { ...shared, at: '2026-11-22', calls: 1, units: 75, bytes: 1_000 },
    ]
    const check = async () => {
      const { items, last } = await readUsage(meters.storage, { ...period, step: 'day' })
      expect(items).toEqual(expectedDays)
      expect(last).toBeUndefined()
    }
    await check()
    await rollUp(meters.storage, { now: meters.clock + 2 * dayMs })
    await check()
    const months = await readUsage(meters.storage, { ...period, step: 'month', userId: key.userId })
    expect(months.items).toEqual([{ ...shared, at: '2026-11', calls: 2, units: 150, bytes: 2_000 }])
    const none = await readUsage(meters.storage, { ...period, from: period.to, to: period.to + dayMs, step: 'day' })
    expect(none.items).toEqual([])
  })

  test('shares its rows with instances of the version before, which has no units', async () => {
    const key = newKey()
    const meter = meters.open()
    meter.count(key, 'mainnet', 'eth_call', 'succeeded', 1, 3, { units: 30, bytes: 300 })
    await meter.flush()
    const { query } = meters.storage.db
    // As that version writes.
    const written = '[["eth_call","mainnet","succeeded",2,10,2]]'
    await sql`insert into usage_minutes (at, key_id, run, total, counts)
      values (${sql.lit(start)}, ${key.id}, 'before', 2, ${written})`.execute(query)
    const check = async (table: 'usageMinutes' | 'usageHours' | 'usageDays') => {
      const { items } = await readUsage(meters.storage, { ...period, step: 'day' })
      expect(items).toMatchObject([{ calls: 5, units: 30, bytes: 300 }])
      const rows = await query.selectFrom(table).select('counts').execute()
      // As that version reads: numbers after the three names.
      for (const { counts } of rows)
        expect(counts).toMatch(/^\[\["eth_call","mainnet","succeeded",[1-9]\d*(,\d+,\d+)*\]\]$/)
      expect(rows.length).toBeGreaterThan(0)
    }
    await check('usageMinutes')
    await rollUp(meters.storage, { now: start + 3 * dayMs })
    await check('usageHours')
    await check('usageDays')
  })

  test('has pages of whole keys, however many keys there are', async () => {
    const meter = meters.open()
    const keys = Array.from({ length: 505 }, newKey)
    const methods = ['eth_call', 'eth_chainId']
    for (const [index, key] of keys.entries()) {
      // Every third key was rotated, and some of them have calls with the old key only.
      const old = { ...key, id: toOldKeyId(key.id) }
      const used = index % 3 > 0 ? [key] : index % 2 > 0 ? [old] : [key, old]
      for (const method of methods)
        for (const one of used)
          meter.count(one, 'mainnet', method, 'succeeded', 1, 1, { units: 6 / used.length, bytes: 0 })
    }
    await meter.flush()
    const pages: (readonly UsageItem[])[] = []
    let after: string | undefined
    do {
      const { items, last } = await readUsage(meters.storage, { ...period, step: 'month', after, minRows: 1 })
      pages.push(items)
      after = last
    } while (after !== undefined)
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(20 * methods.length)
    const found = pages.flat().map(({ appId, method, units }) => `${appId} ${method} ${units}`)
    expect(found.toSorted()).toEqual(
      keys.flatMap(({ appId }) => methods.map((method) => `${appId} ${method} 6`)).toSorted(),
    )
  })
})

test('usage equals what the limits charged, over the turn of a day', async () => {
  const storage = await openStorage(await sqlite.create())
  const upstream = await startFakeUpstream(chainIds.testnet)
  const midnight = today + dayMs
  let clock = midnight - 1_000
  const now = () => clock
  const usageLimits = createLocalLimits({ storage, now, rates: createRateLimiter({ now }) })
  const meter = createMeter({ storage, now, flushMs: 60_000, rollUpMs: 0 })
  const started = await startGateway(
    { testnet: [upstream.url], mainnet: [unreachableUrl] },
    { usageLimits, meter, now, limits: { weights: { eth_call: 5, eth_getLogs: 20 } } },
  )
  onTestFinished(async () => {
    await started.gateway.close({ graceMs: 0 })
    await meter.close()
    await usageLimits.close()
    await storage.close()
    await upstream.stop()
    await sqlite.stop()
  })
  const limits = { perSecond: null, burst: 1_000, perDay: 100_000, perMonth: null }
  for (const [key, network] of [
    [started.testnetKey, 'testnet'],
    [started.mainnetKey, 'mainnet'],
  ] as const)
    started.keys.add(key, {
      id: `key_${network}`,
      kind: 'apiKey',
      networks: [network],
      status: 'active',
      userId: 'usr_1',
      limits,
    })
  const url = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
  const toCall = (method: string) => ({ jsonrpc: '2.0', id: 1, method, params: [] })
  const send = async (body: unknown, to = url) => post(to, JSON.stringify(body))
  /** The response that the test holds back. */
  let respond = (): void => {}
  upstream.behave = (call, response) => {
    if (call.method !== 'eth_getLogs') return result(call, '"0x12"')
    respond = () => response.end(result(call, '[]'))
    return undefined
  }

  const unsent = getApiKeyUrl(started.url, 'mainnet', started.mainnetKey)
  await send(toCall('eth_call'))
  await send([toCall('eth_call'), toCall('eth_chainId'), toCall('eth_unknown')])
  // No node gets it, so it is returned.
  await send(toCall('eth_call'), unsent)
  const late = send(toCall('eth_getLogs'))
  await vi.waitFor(() => expect(upstream.bodies.at(-1)).toContain('eth_getLogs'))
  const getCharged = async () =>
    (await usageLimits.usage({ id: 'user:usr_1', perDay: limits.perDay, perMonth: null })).day.used
  const charged = await getCharged()
  clock = midnight + 1_000
  respond()
  await late
  await send(toCall('eth_call'))
  await send(toCall('eth_call'), unsent)
  await meter.flush()

  const { items } = await readUsage(storage, { from: today, to: today + 2 * dayMs, step: 'day', minRows: 1_000 })
  const rows = items.map(({ at, network, method, calls, units, bytes }) => [at, network, method, calls, units, bytes])
  expect(rows).toEqual(
    expect.arrayContaining([
      ['2026-11-21', 'testnet', 'eth_call', 2, 10, 12],
      ['2026-11-21', 'testnet', 'eth_chainId', 1, 1, 6],
      ['2026-11-21', 'testnet', 'eth_getLogs', 1, 20, 2],
      ['2026-11-21', 'mainnet', 'eth_call', 1, 0, 0],
      ['2026-11-22', 'testnet', 'eth_call', 1, 5, 6],
    ]),
  )
  const sumUnits = (day: string) => items.reduce((sum, { at, units }) => (at === day ? sum + units : sum), 0)
  expect([sumUnits('2026-11-21'), sumUnits('2026-11-22')]).toEqual([charged, await getCharged()])
  expect([sumUnits('2026-11-21'), sumUnits('2026-11-22')]).toEqual([31, 5])
})
