import { describe, expect, test } from 'vitest'
import type { AllowEntry } from '../../src/storage/allowList.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAllowListUses } from '../../src/usage/allowListUses/createAllowListUses.ts'
import type { AllowListUses } from '../../src/usage/allowListUses/createAllowListUses.ts'
import { createMeter } from '../../src/usage/metering/createMeter.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { addApp, addUser, granted } from '../storage/fill.ts'
import { useStorage } from '../storage/useStorage.ts'

const noon = Date.UTC(2026, 10, 23, 12)
const minute = 60_000

describe.each(suiteDatabases)('the last use of allow list entries on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  const addEntries = async (count: number) => {
    const { id: userId } = await addUser(storage)
    const { app } = await addApp(storage, { userId })
    const owner = { appId: app.id, userId }
    const entries: AllowEntry[] = []
    for (let index = 0; index < count; index += 1) {
      const value = `10.0.${Math.floor(index / 250)}.${index % 250}`
      entries.push(
        granted(await storage.allowList.add({ ...owner, type: 'ip', value, label: '', max: 1_000, now: noon + index })),
      )
    }
    const read = async () => (await storage.allowList.list(owner)).map(({ usedAt }) => usedAt)
    return { owner, ids: entries.map(({ id }) => id), read }
  }
  const start = (clock: { now: number }, maxEntries?: number) =>
    createAllowListUses({ storage, now: () => clock.now, ...(maxEntries === undefined ? {} : { maxEntries }) })
  /** Writes everything. @returns How many rows each transaction wrote. */
  const write = async (uses: AllowListUses) => {
    const rows: number[] = []
    for (let batch = uses.take(); batch !== undefined; batch = uses.take()) {
      await storage.write(batch.steps, { light: true })
      rows.push(batch.rows)
    }
    return rows
  }

  test('is stored to the minute, once for all uses in a minute', async () => {
    const clock = { now: noon + 59_999 }
    const uses = start(clock)
    const { ids, read } = await addEntries(2)
    expect(await read()).toEqual([null, null])
    const [id = ''] = ids
    const recordUse = uses.track(id)
    for (let count = 0; count < 1_000; count += 1) recordUse()
    expect(await write(uses)).toEqual([1])
    expect(await read()).toEqual([noon, null])
    recordUse()
    expect(await write(uses)).toEqual([])
    clock.now += 1
    expect(await write(uses)).toEqual([])
    recordUse()
    expect(await write(uses)).toEqual([1])
    expect(await read()).toEqual([noon + minute, null])
  })

  test('many entries are written in small transactions', async () => {
    const uses = start({ now: noon })
    const { ids, read } = await addEntries(250)
    for (const id of ids) uses.track(id)()
    expect(await write(uses)).toEqual([100, 100, 50])
    expect(new Set(await read())).toEqual(new Set([noon]))
  })

  test('an instance that is late does not move it back', async () => {
    const { ids, read } = await addEntries(1)
    const [id = ''] = ids
    const [ahead, late] = [start({ now: noon + 5 * minute }), start({ now: noon })]
    for (const uses of [ahead, late]) {
      uses.track(id)()
      await write(uses)
    }
    expect(await read()).toEqual([noon + 5 * minute])
  })

  test('a failed write is repeated, with what is newer', async () => {
    const clock = { now: noon }
    const uses = start(clock)
    const { ids, read } = await addEntries(2)
    const recordUses = ids.map((id) => uses.track(id))
    for (const recordUse of recordUses) recordUse()
    const failed = uses.take()
    clock.now += minute
    uses.take()
    recordUses[0]?.()
    failed?.failed()
    await write(uses)
    expect(await read()).toEqual([noon + minute, noon])
  })

  test('the memory is bounded', () => {
    const uses = start({ now: noon }, 100)
    for (let count = 0; count < 1_000; count += 1) uses.track(`alw_${count}`)()
    expect(uses.take()?.rows).toBe(100)
    expect(uses.take()).toBeUndefined()
  })

  test('an entry that is removed, and one that somebody changes, do not keep metering from writing', async () => {
    const uses = start({ now: noon })
    const { owner, ids, read } = await addEntries(2)
    const [removed = '', changed = ''] = ids
    for (const id of ids) uses.track(id)()
    await storage.allowList.remove({ id: removed, ...owner })
    const meter = createMeter({ storage, flushMs: 86_400_000, alongside: uses, now: () => noon })
    if (database.name === 'postgres')
      await storage.transaction(async (within) => {
        await within.allowList.edit({ id: changed, ...owner, label: 'changed' })
        await meter.flush()
      })
    else await meter.flush()
    // On PostgreSQL, the row was locked: the next minute writes it.
    expect(await read()).toEqual([database.name === 'postgres' ? null : noon])
    await meter.close()
  })
})
