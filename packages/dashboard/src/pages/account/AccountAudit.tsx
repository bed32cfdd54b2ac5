import { getRouteApi } from '@tanstack/react-router'
import { auditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

const route = getRouteApi('/inside/account/audit')

/** The audit log of the account, its apps and its keys. */
export function AccountAudit() {
  const { action } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Account: audit log"
        lead="Changes to your account, apps and keys, newest first."
      />
      <AuditTable
        of={auditQuery}
        csv="GET /api/audit-log.csv"
        action={action}
        onAction={(chosen) => void navigate({ search: chosen === undefined ? {} : { action: chosen }, replace: true })}
      />
    </>
  )
}
