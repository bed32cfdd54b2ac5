import { useState } from 'react'
import { Segments } from '../parts/Segments.tsx'

type Theme = 'system' | 'light' | 'dark'

const stored = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Chooses the colors: the system's, light or dark. Only this setting is stored in the browser. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(stored)
  const choose = (next: Theme): void => {
    setTheme(next)
    if (next === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = next
    try {
      if (next === 'system') localStorage.removeItem('keyrail-theme')
      else localStorage.setItem('keyrail-theme', next)
    } catch {
      // Without storage, the choice lasts until the page is reloaded.
    }
  }
  return (
    <Segments
      legend="Colours"
      name="theme"
      value={theme}
      onChange={choose}
      options={[
        { value: 'system', title: 'Auto' },
        { value: 'light', title: 'Light' },
        { value: 'dark', title: 'Dark' },
      ]}
    />
  )
}
