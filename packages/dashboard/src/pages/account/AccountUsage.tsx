import { useQuery } from '@tanstack/react-query'
import { MetricsPanel } from '../../charts/MetricsPanel.tsx'
import { toPath } from '../../control/callApi.ts'
import { metricsQuery, usageQuery } from '../../control/queries.ts'
import { NetworkLimits } from '../../networks/NetworkLimits.tsx'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { QuotaNote } from '../../parts/QuotaNote.tsx'
import { getQuotaState } from '../../parts/quotaState.ts'
import { UsageHistory } from '../../parts/UsageHistory.tsx'
import { UsageMeter } from '../../parts/UsageMeter.tsx'
import { WeightsHint } from '../../parts/WeightsHint.tsx'
import { UsageShare } from './UsageShare.tsx'

/** The usage of the account: of the API keys' limits, by app and key, by day, and in detail. */
export function AccountUsage() {
  const usage = useQuery({ ...usageQuery(), refetchInterval: 10_000 })
  return (
    <>
      <PageHead title="Usage" windowTitle="Account: usage" />
      <QuotaNote state={getQuotaState(usage.data)} of="all your API keys together" />
      <div className="columns">
        <Loaded query={usage}>
          {({ day, month, weights, networks }) => (
            <Card
              title="Limits of API keys"
              lead="All API keys together. Apps have limits of their own, in their settings. Rejected calls do not count."
            >
              <div className="pair">
                <UsageMeter of="All API keys" period="day" usage={day} />
                <UsageMeter of="All API keys" period="month" usage={month} />
              </div>
              <WeightsHint weights={weights} />
              <NetworkLimits networks={networks} />
            </Card>
          )}
        </Loaded>
        <UsageShare />
      </div>
      <UsageHistory
        query={metricsQuery('account', 'month')}
        csv={toPath('GET /api/metrics.csv', { query: { range: 'month' } })}
      />
      <h2>All apps and API keys</h2>
      <MetricsPanel subject="account" />
    </>
  )
}
