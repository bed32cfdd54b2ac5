import { useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** How far from the viewport rows are rendered. */
const margin = '1000px 0px'

/**
 * Whether an element is in the viewport or near it, and its height when it last was.
 * @param options.isNearAtFirst - Until the browser has reported it.
 * @returns `isNear` stays true while the element has the focus.
 */
export function useNearViewport(options: { readonly isNearAtFirst: boolean }): {
  readonly ref: RefObject<HTMLTableSectionElement | null>
  readonly isNear: boolean
  /** In pixels; `undefined` if it was never near. */
  readonly height: number | undefined
} {
  const ref = useRef<HTMLTableSectionElement>(null)
  const [state, setState] = useState<{ readonly isNear: boolean; readonly height?: number }>({
    isNear: options.isNearAtFirst,
  })
  useEffect(() => {
    const element = ref.current
    if (element === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1)
        if (entry === undefined) return
        const isNear = entry.isIntersecting || element.contains(document.activeElement)
        setState((before) => {
          if (before.isNear === isNear) return before
          return isNear ? { ...before, isNear } : { isNear, height: entry.boundingClientRect.height }
        })
      },
      { rootMargin: margin },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, isNear: state.isNear, height: state.height }
}
