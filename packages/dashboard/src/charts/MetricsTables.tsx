import type { MetricsView } from '@keyrail/gateway'
import type { ReactNode } from 'react'
import { NetworkName } from '../networks/NetworkName.tsx'
import { useNetworks } from '../networks/useNetworks.ts'
import { Card } from '../parts/Card.tsx'
import { countText, msText, rateText } from '../parts/times.ts'
import { BarTable } from './BarTable.tsx'
import { FilterButton } from './FilterButton.tsx'
import { outcomeKind } from './outcomeKind.ts'
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
    <div className="columns level">
      <Card title="By method" aside={csvLink('methods')}>
        <BarTable
          label="Table by method"
          heading="Method"
          columns={['Requests', 'Success', 'Median', '95th']}
          mono
          rows={byMethod.map((one) => ({
            key: one.method,
            title: <FilterButton name="method" value={one.method} title={one.method} />,
            part: one.total / total,
            numbers: [
              countText(one.total),
              rateText(one.total === 0 ? null : (one.succeeded + one.reverted) / one.total),
              msText(one.p50),
              msText(one.p95),
            ],
          }))}
        />
      </Card>
      <div className="stack wide">
        <Card title="By outcome" aside={csvLink('outcomes')}>
          <BarTable
            label="Table by outcome"
            heading="Outcome"
            columns={['Requests']}
            rows={byOutcome.map((one) => ({
              key: one.outcome,
              title: <FilterButton name="outcome" value={one.outcome} title={outcomeTitle(one.outcome)} />,
              part: one.total / total,
              isBad: outcomeKind(one.outcome) === 'bad',
              numbers: [countText(one.total)],
            }))}
          />
        </Card>
        <Card title="By network" aside={csvLink('networks')}>
          <BarTable
            label="Table by network"
            heading="Network"
            columns={['Requests']}
            rows={byNetwork.map((one) => ({
              key: one.network,
              title: (
                <FilterButton
                  name="network"
                  value={one.network}
                  title={<NetworkName title={getTitle(one.network)} network={one.network} />}
                />
              ),
              part: one.total / total,
              numbers: [countText(one.total)],
            }))}
          />
        </Card>
      </div>
    </div>
  )
}
