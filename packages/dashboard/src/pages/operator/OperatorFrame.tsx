import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { sessionQuery } from '../../control/queries.ts'
import { PageLinks } from '../../parts/PageLinks.tsx'
import { operatorPages } from '../../parts/pageTable.ts'
import { Empty } from '../../parts/Empty.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

/** The frame of the operator pages. Other users see only this frame. */
export function OperatorFrame() {
  const { data } = useQuery(sessionQuery)
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
      <PageLinks label="Operator" pages={operatorPages} />
      <Outlet />
    </div>
  )
}
