import { MetricsPanel } from '../../charts/MetricsPanel.tsx'
import { useApp } from './useApp.ts'

/** How much was asked of an app, and how it went. */
export function AppMetrics() {
  const { id } = useApp()
  return <MetricsPanel subject={{ appId: id }} />
}
