import { describe, expect, test } from 'vitest'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays, trafficPrefix } from '../../src/usage/limits/accountDays.ts'
import { readTopUsage } from '../../src/usage/limits/readTopUsage.ts'
import { databases } from '../storage/databases.ts'
import { useStorage } from '../storage/useStorage.ts'

describe.each(databases)('who used most on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  const createUser = async (email: string) => {
    const user = await storage.users.create({ email, password: '', now: 1 })
    if (typeof user === 'string') throw new Error(user)
    return user
  }

  test('sums the units of all runs by quota and by account, also of deleted apps', async () => {
    const [ann, bob] = [await createUser('ann@example.org'), await createUser('bob@example.org')]
    const day = 20_000
    const charge = (account: string, charged: number, of = day, run = 'one') => ({ account, day: of, run, charged })
    await storage.write(
      createAccountDays(storage).toSteps([
        charge(`user:${ann.id}`, 40),
        charge(`user:${ann.id}`, 5, day, 'two'),
        charge('app:app_deleted', 30),
        charge(`user:${bob.id}`, 60),
        charge(`user:${bob.id}`, 1_000, day - 1),
        charge('user:usr_gone', 1),
        charge('node:units:mainnet/a', 5_000),
        charge(`${trafficPrefix}calls:mainnet/a`, 5_000),
      ]),
    )
    await storage.db.query
      .insertInto('usageKeys')
      .values([
        { keyId: 'key_1', appId: 'app_deleted', userId: ann.id },
        { keyId: 'key_1:old', appId: 'app_deleted', userId: ann.id },
      ])
      .execute()
    const { quotas, accounts, units } = await readTopUsage(storage, { day, limit: 3 })
    expect(quotas.map(({ id, units: of, owner }) => [id, of, owner?.user.email])).toEqual([
      [`user:${bob.id}`, 60, 'bob@example.org'],
      [`user:${ann.id}`, 45, 'ann@example.org'],
      ['app:app_deleted', 30, undefined],
    ])
    expect(accounts).toEqual([
      { userId: ann.id, units: 75 },
      { userId: bob.id, units: 60 },
      { userId: 'usr_gone', units: 1 },
    ])
    expect(units).toBe(136)
    expect(await readTopUsage(storage, { day: day + 1, limit: 3 })).toEqual({ quotas: [], accounts: [], units: 0 })
  })
})
