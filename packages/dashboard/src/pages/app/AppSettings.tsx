import { Outlet } from '@tanstack/react-router'
import { SideLinks } from '../../parts/PageLinks.tsx'
import { appSettingsPages } from '../../parts/pageTable.ts'
import { useApp } from './useApp.ts'

/** The sections of an app's settings. */
export function AppSettings() {
  const params = { appId: useApp().id }
  return (
    <div className="settings">
      <SideLinks label="Settings" pages={appSettingsPages} params={params} />
      <div className="stack wide">
        <Outlet />
      </div>
    </div>
  )
}
