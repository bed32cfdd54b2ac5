import { useState } from 'react'
import { Segments } from '../parts/Segments.tsx'

type Theme = 'system' | 'light' | 'dark'

const stored = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Chooses the colours: the system's, light or dark. It is the one thing that is kept in this browser. */
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
      // Where storage is closed, the choice holds for this page.
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
