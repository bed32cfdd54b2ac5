import { Link, Outlet } from '@tanstack/react-router'

/** The frame of the account pages. */
export function AccountFrame() {
  return (
    <div className="page">
      <nav className="tabs" aria-label="Account">
        <Link to="/account" activeOptions={{ exact: true }}>
          Usage
        </Link>
        <Link to="/account/alerts">Alerts</Link>
        <Link to="/account/tokens">Access tokens</Link>
        <Link to="/account/audit">Audit log</Link>
        <Link to="/account/security">Security</Link>
      </nav>
      <Outlet />
    </div>
  )
}
