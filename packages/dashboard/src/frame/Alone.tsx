import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Brand } from '../parts/Icon.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import { useShellRemoval } from './useShellRemoval.ts'

/** The frame of pages for users who are not logged in. */
export function Alone({ children }: { readonly children: ReactNode }) {
  useShellRemoval()
  return (
    <div className="alone">
      <header className="alone-top">
        <Link to="/log-in" className="brand">
          <Brand />
          Keyrail
        </Link>
        <ThemeSwitch />
      </header>
      <main className="alone-main">{children}</main>
    </div>
  )
}
