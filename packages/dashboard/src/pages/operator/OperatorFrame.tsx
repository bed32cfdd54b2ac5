import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { sessionQuery } from '../../control/queries.ts'
import { Empty } from '../../parts/Empty.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

/** The frame of the operator pages. Other users see only this frame. */
export function OperatorFrame() {
  const { data } = useQuery(sessionQuery)
  const isOfUser = useRouterState({ select: ({ location }) => location.pathname.startsWith('/operator/users/') })
  if (data !== undefined && data.account.role !== 'operator') {
    return (
      <div className="page">
        <PageHead title="Operator" />
        <Empty title="Your account is not an operator">
          <p>An operator of this service can give you that role.</p>
        </Empty>
      </div>
    )
  }
  return (
    <div className="page">
      <nav className="tabs" aria-label="Operator">
        <Link to="/operator" activeOptions={{ exact: true }} aria-current={isOfUser ? 'page' : undefined}>
          Users
        </Link>
        <Link to="/operator/upstreams">Upstreams</Link>
        <Link to="/operator/invites">Invites</Link>
        <Link to="/operator/audit">Audit log</Link>
      </nav>
      <Outlet />
    </div>
  )
}
