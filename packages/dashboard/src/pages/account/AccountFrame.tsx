import { Outlet } from '@tanstack/react-router'
import { PageLinks } from '../../parts/PageLinks.tsx'
import { accountPages } from '../../parts/pageTable.ts'

/** The frame of the account pages. */
export function AccountFrame() {
  return (
    <div className="page">
      <PageLinks label="Account" pages={accountPages} />
      <Outlet />
    </div>
  )
}
