import { describe, expect, test } from 'vitest'
import { dayMs } from '../../src/lib/time.ts'
import { getUtcDay } from '../../src/lib/utcDay.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { createNodeTraffic } from '../../src/usage/traffic/createNodeTraffic.ts'
import type { StoredNodeTraffic } from '../../src/usage/traffic/createNodeTraffic.ts'
import { databases } from '../storage/databases.ts'
import { useStorage } from '../storage/useStorage.ts'

describe.each(databases)('what nodes were sent on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  test('is the sum of all instances by day, and is kept for 400 days', async () => {
    let now = Date.UTC(2026, 10, 21, 12)
    const rows = createAccountDays(storage)
    const open = (): StoredNodeTraffic => createNodeTraffic({ rows, now: () => now })
    const instances = [open(), open()]
    const nodes = [
      { network: 'mainnet', name: 'own' },
      { network: 'mainnet', name: 'paid' },
    ]
    const flush = async (): Promise<void> => {
      for (const one of instances) {
        const batch = one.take()
        if (batch !== undefined) await storage.write(batch.steps)
      }
    }
    for (const one of instances) {
      one.ofNode('mainnet', 'paid').calls.total += 3
      one.ofNode('mainnet', 'paid').units.total += 78
      one.ofNetwork('mainnet').cache.total += 5
    }
    await flush()
    now += dayMs
    instances[0]!.ofNode('mainnet', 'own').calls.total += 1
    instances[1]!.ofNetwork('mainnet').inFlight.total += 2
    await flush()
    expect(instances.map((one) => one.take())).toEqual([undefined, undefined])
    const expected = [
      {
        day: '2026-11-22',
        network: 'mainnet',
        upstreams: [
          { name: 'own', calls: 1, units: 0 },
          { name: 'paid', calls: 0, units: 0 },
        ],
        savedByCache: 0,
        savedInFlight: 2,
      },
      {
        day: '2026-11-21',
        network: 'mainnet',
        upstreams: [
          { name: 'own', calls: 0, units: 0 },
          { name: 'paid', calls: 6, units: 156 },
        ],
        savedByCache: 10,
        savedInFlight: 0,
      },
    ]
    expect(await instances[0]!.readDays(nodes, 2)).toEqual(expected)
    expect(await instances[0]!.readDays(nodes, 1)).toEqual(expected.slice(0, 1))
    now += 300 * dayMs
    while ((await rows.compact(getUtcDay(now), 2)) === 2);
    expect(await instances[0]!.readDays(nodes, 400)).toEqual(expected)
    now += 101 * dayMs
    while ((await rows.compact(getUtcDay(now), 2)) === 2);
    expect(await instances[0]!.readDays(nodes, 1_000)).toEqual([])
  })
})
