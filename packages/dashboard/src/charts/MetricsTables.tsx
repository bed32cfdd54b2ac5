import type { MetricsView } from '@keyrail/gateway'
import type { ReactNode } from 'react'
import { NetworkName } from '../networks/NetworkName.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Card } from '../parts/Card.tsx'
import { countText, msText, rateText } from '../parts/times.ts'
import { BarCell } from './BarCell.tsx'
import { FilterButton } from './FilterButton.tsx'
import { outcomeTitle } from './outcomeTitle.ts'

/** Requests by method, outcome and network. The name of each row filters the page by it. */
export function MetricsTables(props: {
  readonly metrics: MetricsView
  readonly csvLink: (of: 'methods' | 'outcomes' | 'networks') => ReactNode
}) {
  const { metrics, csvLink } = props
  const { byMethod, byOutcome, byNetwork, total } = metrics
  const { getTitle } = useNetworks()
  return (
    <>
      <Card title="By method" aside={csvLink('methods')}>
        <div className="table-box" tabIndex={0} role="region" aria-label="Table by method">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Method</th>
                <td className="filler" />
                <th scope="col" className="number">
                  Requests
                </th>
                <th scope="col" className="number">
                  Success
                </th>
                <th scope="col" className="number">
                  Median
                </th>
                <th scope="col" className="number">
                  95th
                </th>
              </tr>
            </thead>
            <tbody>
              {byMethod.map((one) => (
                <tr key={one.method}>
                  <th scope="row" className="mono">
                    <FilterButton name="method" value={one.method} title={one.method} />
                  </th>
                  <BarCell part={one.total / total} />
                  <td className="number">{countText(one.total)}</td>
                  <td className="number">{rateText(one.total === 0 ? null : one.succeeded / one.total)}</td>
                  <td className="number">{msText(one.p50)}</td>
                  <td className="number">{msText(one.p95)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      <div className="grid even">
        <Card title="By outcome" aside={csvLink('outcomes')}>
          <table className="table">
            <thead className="hidden">
              <tr>
                <th scope="col">Outcome</th>
                <td className="filler" />
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              {byOutcome.map((one) => (
                <tr key={one.outcome}>
                  <th scope="row">
                    <FilterButton name="outcome" value={one.outcome} title={outcomeTitle(one.outcome)} />
                  </th>
                  <BarCell part={one.total / total} bad={one.outcome !== 'succeeded'} />
                  <td className="number">{countText(one.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
        <Card title="By network" aside={csvLink('networks')}>
          <table className="table">
            <thead className="hidden">
              <tr>
                <th scope="col">Network</th>
                <td className="filler" />
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              {byNetwork.map((one) => (
                <tr key={one.network}>
                  <th scope="row">
                    <FilterButton
                      name="network"
                      value={one.network}
                      title={<NetworkName title={getTitle(one.network)} network={one.network} />}
                    />
                  </th>
                  <BarCell part={one.total / total} />
                  <td className="number">{countText(one.total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      </div>
    </>
  )
}
