import { useIsFetching, useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import type { AnyRoute } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isControlFailure } from '../control/controlFailure.ts'
import { loseSession } from '../control/lostSession.ts'
import { sessionQuery } from '../control/queries.ts'
import { useLogOut } from '../control/useLogOut.ts'
import { Button } from '../parts/Button.tsx'
import { Brand, Icon } from '../parts/Icon.tsx'
import { AccountSwitch } from './AccountSwitch.tsx'
import { GoToButton } from './GoToButton.tsx'
import { NavUsage } from './NavUsage.tsx'
import { Outdated } from './Outdated.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import { Unreachable } from './Unreachable.tsx'
import { useShellRemoval } from './useShellRemoval.ts'

/** The frame of pages for users who are logged in. */
export function Frame() {
  useShellRemoval()
  const { data, error } = useQuery(sessionQuery)
  const [isOpen, setOpen] = useState(false)
  const place = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setOpen(false), [place])
  useEffect(() => {
    if (!isOpen) return undefined
    const close = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      setOpen(false)
      document.querySelector<HTMLElement>('.menu-button')?.focus()
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [isOpen])
  usePagesAhead()
  useEffect(() => {
    if (isControlFailure(error, 'not_logged_in')) loseSession()
  }, [error])
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Unreachable />
      <Outdated />
      <div className="frame">
        <header className="side">
          <div className="side-in">
            <Link to="/apps" className="brand">
              <Brand />
              Keyrail
            </Link>
            <Button
              className="menu-button"
              size="little"
              expanded={isOpen}
              controls="menu"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="menu" />
              Menu
            </Button>
            <div id="menu" className={isOpen ? 'side-body open' : 'side-body'}>
              <GoToButton />
              <nav className="nav" aria-label="Main">
                <Link to="/apps">
                  <Icon name="apps" />
                  Apps
                </Link>
                <Link to="/keys">
                  <Icon name="key" />
                  Keys
                </Link>
                <Link to="/account">
                  <Icon name="account" />
                  Account
                </Link>
                {data?.account.role === 'operator' && (
                  <Link to="/operator">
                    <Icon name="operator" />
                    Operator
                  </Link>
                )}
              </nav>
              <div className="side-end">
                <AccountSwitch />
                <NavUsage />
                <ThemeSwitch />
                <p className="who" title={data?.account.email}>
                  {data?.account.email}
                </p>
                <LogOut />
              </div>
            </div>
          </div>
        </header>
        <main className="main" id="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </>
  )
}

/** Loads the code of the other pages once nothing else is loading, so that they open at once, also while the service is unreachable. */
function usePagesAhead(): void {
  const router = useRouter()
  const isIdle = useIsFetching() === 0
  useEffect(() => {
    if (!isIdle) return undefined
    const timer = setTimeout(() => {
      for (const route of Object.values(router.routesById)) void router.loadRouteChunk(route as AnyRoute)
    }, 1_000)
    return () => clearTimeout(timer)
  }, [router, isIdle])
}

function LogOut() {
  const { submit, isPending } = useLogOut()
  return (
    <Button size="little" busy={isPending} onClick={() => submit()}>
      Log out
    </Button>
  )
}
