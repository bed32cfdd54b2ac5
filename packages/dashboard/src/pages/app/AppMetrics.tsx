import { MetricsPanel } from '../../charts/MetricsPanel.tsx'
import { useApp } from './useApp.ts'

/** The metrics of an app. */
export function AppMetrics() {
  const { id } = useApp()
  return <MetricsPanel subject={{ appId: id }} />
}
