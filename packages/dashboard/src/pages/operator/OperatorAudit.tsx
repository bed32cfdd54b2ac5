import { getRouteApi } from '@tanstack/react-router'
import { toPath } from '../../control/callApi.ts'
import { adminAuditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

const route = getRouteApi('/inside/operator/audit')

/** The audit log of the whole service. */
export function OperatorAudit() {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Operator: audit log"
        lead="Every change to this service, and who made it."
      />
      <AuditTable
        query={adminAuditQuery(filters)}
        csv={toPath('GET /api/admin/audit-log.csv', { query: filters })}
        isOperator={true}
        filters={filters}
        onFilters={(search) => void navigate({ search })}
      />
    </>
  )
}
