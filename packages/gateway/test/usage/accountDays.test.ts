import { describe, expect, test } from 'vitest'
import { toUtcDay } from '../../src/lib/utcDay.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createAccountDays } from '../../src/usage/limits/accountDays.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { useStorage } from '../storage/useStorage.ts'

describe.each(suiteDatabases)('the rows of accounts and days on $name', (database) => {
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  test.each([
    { count: 1, onSqlite: 1 },
    { count: 249, onSqlite: 4 + 4 + 9 },
    { count: 250, onSqlite: 1 },
    { count: 263, onSqlite: 1 + 1 + 3 },
  ])('$count rows are written in few statements', async ({ count, onSqlite }) => {
    const rows = createAccountDays(storage)
    const [day, run] = [20_000, `run ${count}`]
    const accounts = Array.from({ length: count }, (_, index) => `user:usr_${count}_${index}`)
    const steps = rows.toSteps(accounts.map((account, index) => ({ account, day, run, charged: index + 1 })))
    // A distant PostgreSQL takes as long for each statement as for each row of it: every 250 rows are one statement.
    expect(steps.length).toBe(database.name === 'sqlite' ? onSqlite : Math.ceil(count / 250))
    await storage.write(steps)
    const sums = await rows.read(accounts, toUtcDay(day))
    expect(accounts.map((account) => sums.get(account)?.day)).toEqual(accounts.map((_, index) => index + 1))
  })
})
