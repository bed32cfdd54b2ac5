import { useEffect, useState } from 'react'
import { secondText } from '../parts/times.ts'

/**
 * Whether data is up to date.
 * @param updatedAt - When it was loaded, in milliseconds since 1970.
 * @param lateMs - The age from which it is not.
 */
export function useIsLate(updatedAt: number, lateMs: number): boolean {
  const [late, setLate] = useState<number>()
  useEffect(() => {
    const timer = setTimeout(() => setLate(updatedAt), updatedAt + lateMs - Date.now())
    return () => clearTimeout(timer)
  }, [updatedAt, lateMs])
  return late === updatedAt
}

/** Says whether the data is up to date, and otherwise when it was loaded. */
export function LiveBadge({ isLive, updatedAt }: { readonly isLive: boolean; readonly updatedAt: number }) {
  return (
    <span role="status">
      <span className={isLive ? 'badge good' : 'badge warn'}>
        <span className={isLive ? 'dot waiting' : 'dot'} aria-hidden="true" />
        {isLive ? 'Live' : `Not live, from ${secondText(updatedAt)}`}
      </span>
    </span>
  )
}
