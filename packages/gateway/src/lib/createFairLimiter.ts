/** Who work is for. */
export interface WorkSource {
  /** The network of the caller. Networks take turns. */
  readonly network: string
  /** The caller in its network. The callers of a network take turns. */
  readonly caller: string
  /** Whether the work has the reserved share. */
  readonly isKnown: boolean
}

/** Limits how much work runs at once, and shares it fairly. */
export interface FairLimiter {
  /** Runs work, immediately or after queued work. @returns What the work returns, or `'full'` if it did not run, because the queue is full. */
  run<T>(source: WorkSource, work: () => Promise<T>): Promise<T | 'full'>
}

/** Called with whether the work may run. */
type Waiter = (mayRun: boolean) => void

interface QueuedNetwork {
  count: number
  /** In the order of their turns. A caller without waiters is not in the map. */
  readonly callers: Map<string, Waiter[]>
}

interface TurnQueue {
  /** @returns Whether the waiter was queued. */
  readonly push: (source: WorkSource, waiter: Waiter) => boolean
  readonly shift: () => Waiter | undefined
}

/** @returns The name of the largest value, and its size. */
const findLargest = <Value>(
  map: ReadonlyMap<string, Value> | undefined,
  getSize: (value: Value) => number,
): { readonly name: string; readonly size: number } => {
  let largest = { name: '', size: 0 }
  for (const [name, value] of map ?? []) if (getSize(value) > largest.size) largest = { name, size: getSize(value) }
  return largest
}

/** Creates a queue in which networks take turns, and so do the callers of a network. */
const createTurnQueue = (maxQueued: number): TurnQueue => {
  const networks = new Map<string, QueuedNetwork>()
  let size = 0

  /** Removes the first or the last waiter of a caller, and what is then empty. */
  const remove = (source: { network: string; caller: string }, isNewest: boolean): Waiter | undefined => {
    const network = networks.get(source.network)
    const waiters = network?.callers.get(source.caller)
    const waiter = isNewest ? waiters?.pop() : waiters?.shift()
    if (network === undefined || waiters === undefined || waiter === undefined) return undefined
    network.count -= 1
    size -= 1
    if (waiters.length === 0) network.callers.delete(source.caller)
    if (network.count === 0) networks.delete(source.network)
    return waiter
  }

  /** Finds a caller whose network, or who in the same network, has at least two more in the queue than the source. */
  const findGreedy = ({ network, caller }: WorkSource): { network: string; caller: string } | undefined => {
    const own = networks.get(network)
    const largest = findLargest(networks, ({ count }) => count)
    if (largest.size > (own?.count ?? 0) + 1) {
      const { name } = findLargest(networks.get(largest.name)?.callers, ({ length }) => length)
      return { network: largest.name, caller: name }
    }
    const { name, size: most } = findLargest(own?.callers, ({ length }) => length)
    return most > (own?.callers.get(caller)?.length ?? 0) + 1 ? { network, caller: name } : undefined
  }

  return {
    push: (source, waiter) => {
      if (size >= maxQueued) {
        const greedy = findGreedy(source)
        if (greedy === undefined) return false
        remove(greedy, true)?.(false)
      }
      let network = networks.get(source.network)
      if (network === undefined) networks.set(source.network, (network = { count: 0, callers: new Map() }))
      const waiters = network.callers.get(source.caller)
      if (waiters === undefined) network.callers.set(source.caller, [waiter])
      else waiters.push(waiter)
      network.count += 1
      size += 1
      return true
    },
    shift: () => {
      const [name, network] = networks.entries().next().value ?? []
      const [caller, waiters] = network?.callers.entries().next().value ?? []
      if (name === undefined || network === undefined || caller === undefined || waiters === undefined) return undefined
      const waiter = remove({ network: name, caller }, false)
      // The next turn is another caller's, and another network's.
      if (waiters.length > 0) {
        network.callers.delete(caller)
        network.callers.set(caller, waiters)
      }
      if (network.count > 0) {
        networks.delete(name)
        networks.set(name, network)
      }
      return waiter
    },
  }
}

/**
 * Creates a concurrency limiter that one network cannot use up. Networks take turns, and so do the callers of a network. If the queue is full,
 * new work replaces the newest work of a network, or of a caller of its own network, that has at least two more in the queue. Known and unknown
 * sources have queues of their own, which alternate: half of the work is for known sources if they need it, no matter how much unknown ones send.
 * @param options.maxRunning - How much work runs at once, 1 or more.
 * @param options.maxQueued - How much more work of known sources waits, and as much of unknown ones.
 */
export const createFairLimiter = ({
  maxRunning,
  maxQueued,
}: {
  maxRunning: number
  maxQueued: number
}): FairLimiter => {
  const known = createTurnQueue(maxQueued)
  const unknown = createTurnQueue(maxQueued)
  let running = 0
  let isKnownNext = true
  const shift = (): Waiter | undefined => {
    const [first, second] = isKnownNext ? [known, unknown] : [unknown, known]
    const waiter = first.shift()
    if (waiter !== undefined) isKnownNext = !isKnownNext
    return waiter ?? second.shift()
  }
  return {
    run: async (source, work) => {
      if (running < maxRunning) running += 1
      else {
        const queue = source.isKnown ? known : unknown
        const mayRun = await new Promise<boolean>((resolve) => {
          if (!queue.push(source, resolve)) resolve(false)
        })
        if (!mayRun) return 'full'
      }
      try {
        return await work()
      } finally {
        // The work that ends passes its slot to the next in the queue, so that work that comes later cannot take it.
        const next = shift()
        if (next === undefined) running -= 1
        else next(true)
      }
    },
  }
}
