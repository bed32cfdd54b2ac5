import { useSyncExternalStore } from 'react'

let isReachable = true
const listeners = new Set<() => void>()

/** Notes whether the service succeeded, whatever it said. */
export function noteReachable(reachable: boolean): void {
  if (reachable === isReachable) return
  isReachable = reachable
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the service answered when it was last asked. */
export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => isReachable)
