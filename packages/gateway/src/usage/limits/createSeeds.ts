import { getUtcDay } from '../../lib/utcDay.ts'
import type { AccountDays, ChargedSums } from './accountDays.ts'
import type { TakeOptions } from './limitScript.ts'

/** The usage of an account in the ledger. */
export type Seed = NonNullable<TakeOptions['seed']>

/** Accounts in one query. */
const accountsAtOnce = 500

interface Batch {
  readonly accounts: Set<string>
  readonly read: Promise<{ at: number; sums: ReadonlyMap<string, ChargedSums> }>
}

/**
 * Creates a reader of the ledger. Accounts that are requested in the same turn are read in one query.
 * @param getRedisTime - Not ahead of the clock of Redis, in milliseconds.
 */
export const createSeeds = (
  rows: Pick<AccountDays, 'read'>,
  getRedisTime: () => number,
): ((account: string) => Promise<Seed>) => {
  let batch: Batch | undefined
  const startBatch = (): Batch => {
    const accounts = new Set<string>()
    const read = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      batch = undefined
      const at = getRedisTime()
      return { at, sums: await rows.read([...accounts], getUtcDay(at)) }
    })
    return { accounts, read }
  }
  return async (account) => {
    if (batch === undefined || batch.accounts.size >= accountsAtOnce) batch = startBatch()
    batch.accounts.add(account)
    const { at, sums } = await batch.read
    const sum = sums.get(account)
    return { day: getUtcDay(at).day, dayUsed: sum?.day ?? 0, monthUsed: sum?.month ?? 0, at }
  }
}
