import type { Service } from '@keyrail/gateway'

/** An entry of a service's log. */
export type ServiceLogEntry = Parameters<Service['log']>[0]

/** How long after the last request a service is idle, in milliseconds. */
const idleAfterMs = 15 * 60_000
/** How often an idle service mines, in milliseconds. */
const idleEveryMs = 60_000

/** Whether anybody uses a service. */
export interface Use {
  /** Takes each entry of the service's log. */
  readonly observe: (entry: ServiceLogEntry) => void
  /** Whether there was no request for 15 minutes, and no WebSocket is open. */
  readonly isIdle: () => boolean
}

/** Tracks whether anybody uses a service. */
export function createUse(now: () => number = () => performance.now()): Use {
  let sockets = 0
  let lastAt = now()
  return {
    observe: (entry) => {
      if (entry.event !== 'request' && entry.event !== 'webSocket') return
      lastAt = now()
      if (entry.event === 'webSocket') sockets += entry.state === 'opened' ? 1 : -1
    },
    isIdle: () => sockets === 0 && now() - lastAt >= idleAfterMs,
  }
}

/**
 * Mines a block every few seconds, so that watchers of a development chain see it grow. While the service is idle, it mines once a minute: each
 * block takes memory and space in the saved chain.
 *
 * @param options - `seconds`: the block time. `mine`: mines one block on each node. `isIdle`: whether nobody uses the service. `now`: milliseconds.
 * @returns Stops it.
 */
export function startBlocks({
  seconds,
  mine,
  isIdle,
  now = () => performance.now(),
}: {
  readonly seconds: number
  readonly mine: () => Promise<void>
  readonly isIdle: () => boolean
  readonly now?: () => number
}): () => void {
  let minedAt = now()
  let isMining = false
  const timer = setInterval(() => {
    if (isMining || (isIdle() && now() - minedAt < idleEveryMs)) return
    isMining = true
    minedAt = now()
    void mine()
      // If a node has exited, the service says so.
      .catch(() => undefined)
      .finally(() => (isMining = false))
  }, seconds * 1_000)
  timer.unref()
  return () => clearInterval(timer)
}
