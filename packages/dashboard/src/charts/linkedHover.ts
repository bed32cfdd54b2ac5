import { createContext, use, useState } from 'react'

/** The index of the moment that the pointer is at, and a function that sets it. */
export type Hover = readonly [at: number | undefined, setAt: (at: number | undefined) => void]

/** Charts of the same moments share it, so that all of them show the moment that the pointer is at in one. */
export const LinkedHover = createContext<Hover | undefined>(undefined)

/** Returns the hover that the chart shares with others, or else its own. */
export function useHover(): Hover {
  const own = useState<number>()
  return use(LinkedHover) ?? own
}
