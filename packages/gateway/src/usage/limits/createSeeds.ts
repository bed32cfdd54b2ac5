import { getUtcDay } from '../../lib/utcDay.ts'
import type { AccountDays, ChargedSums } from './accountDays.ts'
import type { TakeOptions } from './limitScript.ts'

/** The usage of a quota in the ledger. */
export type Seed = NonNullable<TakeOptions['seed']>

/** Quotas in one query. */
const quotasAtOnce = 500

interface Batch {
  readonly quotas: Set<string>
  readonly read: Promise<{ at: number; sums: ReadonlyMap<string, ChargedSums> }>
}

/**
 * Creates a reader of the ledger. Quotas that are requested in the same turn are read in one query.
 * @param getRedisTime - Not ahead of the clock of Redis, in milliseconds.
 */
export const createSeeds = (
  rows: Pick<AccountDays, 'read'>,
  getRedisTime: () => number,
): ((quota: string) => Promise<Seed>) => {
  let batch: Batch | undefined
  const startBatch = (): Batch => {
    const quotas = new Set<string>()
    const read = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      batch = undefined
      const at = getRedisTime()
      return { at, sums: await rows.read([...quotas], getUtcDay(at)) }
    })
    return { quotas, read }
  }
  return async (quota) => {
    if (batch === undefined || batch.quotas.size >= quotasAtOnce) batch = startBatch()
    batch.quotas.add(quota)
    const { at, sums } = await batch.read
    const sum = sums.get(quota)
    return { day: getUtcDay(at).day, dayUsed: sum?.day ?? 0, monthUsed: sum?.month ?? 0, at }
  }
}
