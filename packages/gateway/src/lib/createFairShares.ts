/** Shares a limited number of slots between names, such as IP addresses. */
export interface FairShares {
  /**
   * Takes a slot.
   * @param name - Who takes it. Without a name, only the limit for all applies.
   * @returns A function that releases the slot, to be called once; `undefined` if there is no slot for this name.
   */
  readonly take: (name: string | undefined) => (() => void) | undefined
}

/**
 * Creates fair shares. Each name may take as many slots as it leaves free, so half of all if it is alone, and at least one while one is free.
 * So a new name finds a free slot, however greedy others are.
 * @param getCapacity - Returns the number of slots. Called for each `take`.
 */
export const createFairShares = (getCapacity: () => number): FairShares => {
  const counts = new Map<string, number>()
  let total = 0
  return {
    take: (name) => {
      const own = name === undefined ? 0 : (counts.get(name) ?? 0)
      const left = getCapacity() - total - 1
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
