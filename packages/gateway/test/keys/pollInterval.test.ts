import { afterEach, expect, test, vi } from 'vitest'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeysOptions } from '../../src/auth/key/createStoredKeys.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { controlTime, until } from '../controlTime.ts'
import { sqlite } from '../storage/databases.ts'
import { addApiKey, addUser, now } from '../storage/fill.ts'
import { noLimits } from '../tenants/startTenants.ts'

/** Documented in docs/service/control-api.md, operating.md and running.md. */
const promisedMs = 5_000

const toStop: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

/** The storage of one instance, and how often that instance has read what others changed. */
const watched = (storage: Storage): { storage: StoredKeysOptions['storage']; readings: () => number } => {
  let readings = 0
  const { findAccess, findAccessByKid, changes } = storage
  const since: typeof changes.since = async (seq) => {
    const read = await changes.since(seq)
    readings += 1
    return read
  }
  return { storage: { findAccess, findAccessByKid, changes: { ...changes, since } }, readings: () => readings }
}

test('by default, an instance sees a key that another one revoked within 5 seconds', async () => {
  toStop.push(sqlite.stop)
  const options = await sqlite.create()
  const here = await openStorage(options)
  toStop.push(here.close)
  const elsewhere = await openStorage(options)
  toStop.push(elsewhere.close)
  const user = await addUser(here)
  const { row, hash } = await addApiKey(here, { userId: user.id })

  const pass = controlTime()
  const { storage, readings } = watched(here)
  const keys = createStoredKeys({ storage, limitsOf: () => noLimits })
  toStop.push(keys.close)
  // The feed of changes is read once at the start. From then on the clock decides.
  await until(() => vi.getTimerCount() === 1)
  expect((await keys.find(hash))?.status).toBe('active')
  await elsewhere.keys.revoke({ id: row.id, userId: user.id, now })
  expect((await keys.find(hash))?.status).toBe('active')

  const readBefore = readings()
  for (let ms = 0; ms < promisedMs && readings() === readBefore; ms += 100) {
    pass(100)
    // A reading that a timer has started ends with the next timer. No timer is missing for long, so this only catches hangs.
    await until(() => vi.getTimerCount() === 1)
  }
  expect(readings()).toBe(readBefore + 1)
  expect((await keys.find(hash))?.status).toBe('revoked')
})
