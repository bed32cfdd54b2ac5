import { useSyncExternalStore } from 'react'

let isReachable = true
const listeners = new Set<() => void>()

/** Records whether the service responded, with any status. */
export function noteReachable(reachable: boolean): void {
  if (reachable === isReachable) return
  isReachable = reachable
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the service responded to the last request. */
export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => isReachable)
