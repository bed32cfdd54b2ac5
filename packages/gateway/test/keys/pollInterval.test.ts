import { afterEach, expect, test, vi } from 'vitest'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { watchStores } from '../../src/service/watchStores.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import { controlTime, until } from '../controlTime.ts'
import { sqlite } from '../storage/databases.ts'
import { addApiKey, addUser, now } from '../storage/fill.ts'
import { noLimits } from '../tenants/startTenants.ts'

/** Documented in docs/service/control-api.md, operating.md and running.md. */
const documentedMs = 1_000

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of cleanups.splice(0).toReversed()) await stop()
})

test('by default, an instance sees a key that another one revoked within a second', async () => {
  cleanups.push(sqlite.stop)
  const options = await sqlite.create()
  const local = await openStorage(options)
  cleanups.push(local.close)
  const remote = await openStorage(options)
  cleanups.push(remote.close)
  const user = await addUser(local)
  const { row, hash } = await addApiKey(local, { userId: user.id })

  const pass = controlTime()
  let reads = 0
  const ping = async (): Promise<string> => {
    const position = await local.ping()
    reads += 1
    return position
  }
  const { findAccess, findAccessByKid, changes } = local
  const keys = createStoredKeys({ storage: { findAccess, findAccessByKid, changes, ping }, getLimits: () => noLimits })
  cleanups.push(keys.close)
  const watch = watchStores([{ name: 'database', check: keys.refresh }], () => {})
  cleanups.push(watch.stop)
  await until(() => watch.states()[0]?.checkMs !== null)
  expect((await keys.find(hash))?.status).toBe('active')
  await remote.keys.revoke({ id: row.id, userId: user.id, now })
  expect((await keys.find(hash))?.status).toBe('active')

  pass(documentedMs)
  await until(() => reads === 2)
  await keys.close()
  expect((await keys.find(hash))?.status).toBe('revoked')
})
