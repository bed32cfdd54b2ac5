import { MetricsPanel } from '../../charts/MetricsPanel.tsx'
import { useKey } from './useKey.ts'

/** The metrics of an API key. */
export function KeyMetrics() {
  const { id } = useKey()
  return <MetricsPanel subject={{ keyId: id }} />
}
