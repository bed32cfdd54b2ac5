/** Limits how much work runs at once. */
export interface Limiter {
  /** Runs work, immediately or after queued work. @returns What the work returns, or `'full'` if the queue is full: then it did not run. */
  run<T>(work: () => Promise<T>): Promise<T | 'full'>
  /** Whether no work is running. */
  isIdle(): boolean
}

/**
 * Creates a concurrency limiter with a bounded queue.
 * @param options.maxRunning - How much work runs at once, 1 or more.
 * @param options.maxQueued - How much more work waits.
 */
export const createLimiter = ({ maxRunning, maxQueued }: { maxRunning: number; maxQueued: number }): Limiter => {
  const queue: (() => void)[] = []
  let running = 0
  return {
    run: async (work) => {
      if (running < maxRunning) running += 1
      else if (queue.length >= maxQueued) return 'full'
      // The work that ends passes its slot to the next in the queue, so that work that comes later cannot take it.
      else await new Promise<void>((resolve) => queue.push(resolve))
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
    isIdle: () => running === 0,
  }
}

/** Limits how much work of each key runs at once. Keys do not affect each other. */
export interface KeyedLimiter {
  /** @returns What the work returns, or `'full'` if the queue of this key is full: then it did not run. */
  run<T>(key: string, work: () => Promise<T>): Promise<T | 'full'>
}

/**
 * Creates a limiter for each key that has work. Idle keys use no memory.
 * @param options - For each key: see `createLimiter`.
 */
export const createKeyedLimiter = (options: { maxRunning: number; maxQueued: number }): KeyedLimiter => {
  const limiters = new Map<string, Limiter>()
  return {
    run: async (key, work) => {
      const limiter = limiters.get(key) ?? createLimiter(options)
      limiters.set(key, limiter)
      try {
        return await limiter.run(work)
      } finally {
        if (limiter.isIdle() && limiters.get(key) === limiter) limiters.delete(key)
      }
    },
  }
}
