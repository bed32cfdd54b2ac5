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
const documentedMs = 5_000

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of cleanups.splice(0).toReversed()) await stop()
})

/** Counts how often an instance reads the change feed. */
const countReads = (storage: Storage): { storage: StoredKeysOptions['storage']; reads: () => number } => {
  let reads = 0
  const { findAccess, findAccessByKid, changes } = storage
  const since: typeof changes.since = async (seq) => {
    const read = await changes.since(seq)
    reads += 1
    return read
  }
  return { storage: { findAccess, findAccessByKid, changes: { ...changes, since } }, reads: () => reads }
}

test('by default, an instance sees a key that another one revoked within 5 seconds', async () => {
  cleanups.push(sqlite.stop)
  const options = await sqlite.create()
  const local = await openStorage(options)
  cleanups.push(local.close)
  const remote = await openStorage(options)
  cleanups.push(remote.close)
  const user = await addUser(local)
  const { row, hash } = await addApiKey(local, { userId: user.id })

  const pass = controlTime()
  const { storage, reads } = countReads(local)
  const keys = createStoredKeys({ storage, getLimits: () => noLimits })
  cleanups.push(keys.close)
  // The change feed is read once at the start. After that the clock decides.
  await until(() => vi.getTimerCount() === 1)
  expect((await keys.find(hash))?.status).toBe('active')
  await remote.keys.revoke({ id: row.id, userId: user.id, now })
  expect((await keys.find(hash))?.status).toBe('active')

  const readBefore = reads()
  for (let ms = 0; ms < documentedMs && reads() === readBefore; ms += 100) {
    pass(100)
    // A read sets the next timer when it is done. This waits for that.
    await until(() => vi.getTimerCount() === 1)
  }
  expect(reads()).toBe(readBefore + 1)
  expect((await keys.find(hash))?.status).toBe('revoked')
})
