import { useSyncExternalStore } from 'react'

/** The colors: the system's, light or dark. */
export type Theme = 'system' | 'light' | 'dark'

/** The themes, in the order of the switch. */
export const themes: readonly { readonly value: Theme; readonly title: string }[] = [
  { value: 'system', title: 'Auto' },
  { value: 'light', title: 'Light' },
  { value: 'dark', title: 'Dark' },
]

const listeners = new Set<() => void>()

const getTheme = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Chooses the colors. Only this setting is stored in the browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    if (theme === 'system') localStorage.removeItem('keyrail-theme')
    else localStorage.setItem('keyrail-theme', theme)
  } catch {
    // Without storage, the choice lasts until the page is reloaded.
  }
  for (const listener of listeners) listener()
}

/** The chosen colors. */
export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, getTheme)
