/** Work of which each user has only so much in flight; the rest waits in the user's own line. */
export interface Lines {
  /** Does the work when its turn has come. @returns What it gives, or `'full'` where the user's line is: then it was not done. */
  run<T>(user: string, work: () => Promise<T>): Promise<T | 'full'>
}

/**
 * Makes the lines. Who has nothing in flight is not remembered.
 * @param options.atOnce - How much of a user's work may be in flight, 1 or more.
 * @param options.waiting - How much more may wait.
 */
export const createLines = ({ atOnce, waiting }: { atOnce: number; waiting: number }): Lines => {
  const users = new Map<string, { running: number; readonly line: (() => void)[] }>()
  return {
    run: async (user, work) => {
      const own = users.get(user) ?? { running: 0, line: [] }
      users.set(user, own)
      if (own.running < atOnce) own.running += 1
      else if (own.line.length >= waiting) return 'full'
      // Its place comes from the one that ends.
      else await new Promise<void>((resolve) => own.line.push(resolve))
      try {
        return await work()
      } finally {
        const next = own.line.shift()
        if (next !== undefined) next()
        else {
          own.running -= 1
          if (own.running === 0) users.delete(user)
        }
      }
    },
  }
}
