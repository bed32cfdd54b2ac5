/** Limits how many tasks each user runs at once. Further tasks wait in the user's own queue. */
export interface UserQueues {
  /** Runs the task as soon as the user has a free slot. @returns The task's result, or `'full'` if the user's queue is full; then the task did not run. */
  run<T>(user: string, work: () => Promise<T>): Promise<T | 'full'>
}

/**
 * Creates the queues. Users with nothing in flight take no memory.
 * @param options.maxConcurrent - Tasks of a user in flight, 1 or more.
 * @param options.maxQueued - Further tasks of a user that may wait.
 */
export const createUserQueues = ({
  maxConcurrent,
  maxQueued,
}: {
  maxConcurrent: number
  maxQueued: number
}): UserQueues => {
  const users = new Map<string, { running: number; readonly queue: (() => void)[] }>()
  return {
    run: async (user, work) => {
      const own = users.get(user) ?? { running: 0, queue: [] }
      users.set(user, own)
      if (own.running < maxConcurrent) own.running += 1
      else if (own.queue.length >= maxQueued) return 'full'
      // A finished task passes its slot to the next waiter.
      else await new Promise<void>((resolve) => own.queue.push(resolve))
      try {
        return await work()
      } finally {
        const next = own.queue.shift()
        if (next !== undefined) next()
        else {
          own.running -= 1
          if (own.running === 0) users.delete(user)
        }
      }
    },
  }
}
