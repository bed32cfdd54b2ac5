/** Who has how much of what there is a bound of. */
export interface FairShares {
  /**
   * Takes one.
   * @param name - Who takes it; `undefined` for who has no bound but that of all.
   * @returns What gives it back, to be called once; `undefined` where there is none for it.
   */
  readonly take: (name: string | undefined) => (() => void) | undefined
}

/**
 * Shares what there is: each may have as many as are left for all, which is half for one alone, and one in any case while there is one. So
 * whoever comes finds some, however greedy others are.
 * @param most - How many there are; asked each time.
 */
export const createFairShares = (most: () => number): FairShares => {
  const counts = new Map<string, number>()
  let total = 0
  return {
    take: (name) => {
      const own = name === undefined ? 0 : (counts.get(name) ?? 0)
      const left = most() - total - 1
      if (left < 0 || (own > 0 && own + 1 > left)) return undefined
      total += 1
      if (name !== undefined) counts.set(name, own + 1)
      return () => {
        total -= 1
        if (name === undefined) return
        const rest = (counts.get(name) ?? 1) - 1
        if (rest === 0) counts.delete(name)
        else counts.set(name, rest)
      }
    },
  }
}
