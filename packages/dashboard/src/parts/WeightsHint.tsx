import type { UsageView } from '@keyrail/gateway'
import { countText } from './times.ts'

/** Above this many methods, the list is collapsed. */
const maxShown = 3

/** Shows which methods count as more than one request. Renders nothing if there are none. */
export function WeightsHint({ weights }: Pick<UsageView, 'weights'>) {
  const entries = Object.entries(weights)
  if (entries.length === 0) return null
  const sentences = (
    <p className="hint">
      {entries.map(([method, weight]) => (
        <span key={method}>
          <code>{method}</code> counts as {countText(weight)} requests.{' '}
        </span>
      ))}
    </p>
  )
  return entries.length <= maxShown ? (
    sentences
  ) : (
    <details>
      <summary>{countText(entries.length)} methods count as more than one request</summary>
      {sentences}
    </details>
  )
}
