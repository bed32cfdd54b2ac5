import type { QuotaGrant } from './usageLimits.ts'

/** The returned units of each grant, so that no unit is returned twice. */
export interface Returns {
  /** @returns How many units of the grant are returned now: at most what was not returned before. */
  take(grant: QuotaGrant, units: number): number
}

/** Creates the list of returns. It keeps no grant from being collected. */
export const createReturns = (): Returns => {
  const returned = new WeakMap<QuotaGrant, number>()
  return {
    take: (grant, units) => {
      const before = returned.get(grant) ?? 0
      const taken = Math.max(0, Math.min(units, grant.charged - before))
      returned.set(grant, before + taken)
      return taken
    },
  }
}
