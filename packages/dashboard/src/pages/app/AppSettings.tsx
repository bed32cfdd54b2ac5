import { Outlet } from '@tanstack/react-router'
import { PageLinks } from '../../parts/PageLinks.tsx'
import { appSettingsPages } from '../../parts/pageTable.ts'
import { useApp } from './useApp.ts'

/** The sections of an app's settings. */
export function AppSettings() {
  const params = { appId: useApp().id }
  return (
    <div className="settings">
      <PageLinks label="Settings" pages={appSettingsPages} params={params} look="nav" />
      <div className="stack wide">
        <Outlet />
      </div>
    </div>
  )
}
