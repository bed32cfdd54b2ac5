import { MetricsPanel } from '../../charts/MetricsPanel.tsx'
import { useKey } from './useKey.ts'

/** How much was asked of an API key, and how it went. */
export function KeyMetrics() {
  const { id } = useKey()
  return <MetricsPanel subject={{ keyId: id }} />
}
