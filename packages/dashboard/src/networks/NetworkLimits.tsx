import type { UsageView } from '@keyrail/gateway'
import { countText } from '../parts/times.ts'
import { WeightsHint } from '../parts/WeightsHint.tsx'
import { useNetworks } from './useNetworks.ts'

/** Above this many networks, the list is collapsed. */
const maxShown = 3

/** The limits of networks that have their own. Renders nothing if there are none. */
export function NetworkLimits({ networks }: Pick<UsageView, 'networks'>) {
  const { getTitle } = useNetworks()
  const entries = Object.entries(networks)
  const list = entries.map(([network, { perSecond, burst, weights }]) => (
    <div key={network}>
      <p className="hint">
        On {getTitle(network)}:{' '}
        {perSecond === null
          ? 'no limit per second.'
          : `${countText(perSecond)} requests a second, ${countText(burst)} at once.`}
      </p>
      <WeightsHint weights={weights} />
    </div>
  ))
  return entries.length <= maxShown ? (
    list
  ) : (
    <details>
      <summary>{countText(entries.length)} networks have limits of their own</summary>
      {list}
    </details>
  )
}
