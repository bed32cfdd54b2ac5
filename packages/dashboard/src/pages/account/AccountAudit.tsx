import { auditQuery } from '../../control/queries.ts'
import { AuditTable } from '../../parts/AuditTable.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

/** What was done to the account, its apps and its keys. */
export function AccountAudit() {
  return (
    <>
      <PageHead
        title="Audit log"
        windowTitle="Account: audit log"
        lead="What was done to your account, apps and keys, the newest first."
      />
      <AuditTable of={auditQuery} />
    </>
  )
}
