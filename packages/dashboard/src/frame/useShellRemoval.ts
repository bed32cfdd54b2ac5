import { useLayoutEffect } from 'react'

/** Removes the page of `index.html` that is shown while the scripts load, before the first real page is painted. */
export function useShellRemoval(): void {
  useLayoutEffect(() => document.querySelector('#shell')?.remove(), [])
}
