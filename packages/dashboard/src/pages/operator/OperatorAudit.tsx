import { adminAuditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

/** What was done on the whole instance. */
export function OperatorAudit() {
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Operator: audit log"
        lead="What was done, by whom, on the whole instance."
      />
      <AuditTable of={adminAuditQuery} />
    </>
  )
}
