import { Link, Outlet } from '@tanstack/react-router'
import { useApp } from './useApp.ts'

/** The sections of an app's settings. */
export function AppSettings() {
  const params = { appId: useApp().id }
  return (
    <div className="settings">
      <nav className="nav" aria-label="Settings">
        <Link to="/apps/$appId/settings/advanced" params={params}>
          Advanced configuration
        </Link>
        <Link to="/apps/$appId/settings/allow-list" params={params}>
          Allow list
        </Link>
        <Link to="/apps/$appId/settings/jwt-keys" params={params}>
          JWT keys
        </Link>
        <Link to="/apps/$appId/settings/delete" params={params}>
          Delete app
        </Link>
      </nav>
      <div className="stack wide">
        <Outlet />
      </div>
    </div>
  )
}
