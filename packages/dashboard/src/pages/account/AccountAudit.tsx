import { getRouteApi } from '@tanstack/react-router'
import { toPath } from '../../control/callApi.ts'
import { auditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

const route = getRouteApi('/inside/account/audit')

/** The audit log of the account, its apps and its keys. */
export function AccountAudit() {
  // The log has one account only.
  const { userId: _, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Account: audit log"
        lead="Changes to your account, apps and keys, newest first."
      />
      <AuditTable
        query={auditQuery(filters)}
        csv={toPath('GET /api/audit-log.csv', { query: filters })}
        isOperator={false}
        filters={filters}
        onFilters={(search) => void navigate({ search })}
      />
    </>
  )
}
