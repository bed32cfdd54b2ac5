import { getRouteApi } from '@tanstack/react-router'
import { adminAuditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

const route = getRouteApi('/inside/operator/audit')

/** The audit log of the whole service. */
export function OperatorAudit() {
  const { action } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Operator: audit log"
        lead="Every change to this service, and who made it."
      />
      <AuditTable
        of={adminAuditQuery}
        csv="GET /api/admin/audit-log.csv"
        action={action}
        onAction={(chosen) => void navigate({ search: chosen === undefined ? {} : { action: chosen }, replace: true })}
      />
    </>
  )
}
