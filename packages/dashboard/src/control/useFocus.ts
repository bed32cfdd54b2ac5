import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** Focuses the field with this ref once it is shown. */
export function useFocus(): RefObject<HTMLInputElement | null> {
  const ref = useRef<HTMLInputElement>(null)
  useEffect(() => ref.current?.focus(), [])
  return ref
}
