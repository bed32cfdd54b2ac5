import { useEffect, useState } from 'react'
import type { RefObject } from 'react'

/** At which sides a box that scrolls sideways has more than it shows. */
export interface Overflow {
  readonly before: boolean
  readonly after: boolean
}

/** Observes at which sides a box that scrolls sideways has more than it shows. */
export function useOverflow(ref: RefObject<HTMLElement | null>): Overflow {
  const [overflow, setOverflow] = useState<Overflow>({ before: false, after: false })
  useEffect(() => {
    const box = ref.current
    if (box === null) return undefined
    const read = (): void => {
      // Negative in languages that run from right to left. Fractions of a pixel are no overflow.
      const hidden = Math.abs(box.scrollLeft)
      const next = { before: hidden > 1, after: hidden + box.clientWidth < box.scrollWidth - 1 }
      setOverflow((last) => (last.before === next.before && last.after === next.after ? last : next))
    }
    const observer = new ResizeObserver(read)
    for (const element of [box, ...box.children]) observer.observe(element)
    box.addEventListener('scroll', read, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', read)
    }
  }, [ref])
  return overflow
}

/** The classes of the box around it, whose edges show a shadow where there is more. */
export const toEdgeClasses = ({ before, after }: Overflow): string =>
  ['scroll-edges', before && 'more-before', after && 'more-after'].filter(Boolean).join(' ')
