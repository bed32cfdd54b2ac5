import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { TopUsageView } from '@keyrail/gateway'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { BarTable } from '../../../charts/BarTable.tsx'
import { topUsageQuery } from '../../../control/queries.ts'
import { toOperatorLink } from '../../../parts/AuditRecord.tsx'
import { Card } from '../../../parts/Card.tsx'
import { Loaded } from '../../../parts/Loaded.tsx'
import { Segments } from '../../../parts/Segments.tsx'
import { countText, rateText } from '../../../parts/times.ts'

const days = [
  { value: 'yesterday', title: 'Yesterday' },
  { value: 'today', title: 'Today' },
] as const

const getYesterday = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** The apps and accounts that used most yesterday or today, and how much of their quota. */
export function TopUsage() {
  const [day, setDay] = useState<(typeof days)[number]['value']>('yesterday')
  const query = useQuery({
    ...topUsageQuery(day === 'today' ? undefined : getYesterday()),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  })
  return (
    <Card
      title="Top usage"
      lead="What quotas were charged on a UTC day, over all instances, in units: each call counts as the weight of its method."
      aside={<Segments legend="Day" name="day" value={day} onChange={setDay} options={days} />}
    >
      <Loaded query={query}>
        {({ quotas, accounts, units }) =>
          units === 0 ? (
            <p className="soft">Nothing was used {day}.</p>
          ) : (
            <>
              <BarTable
                label="Top accounts"
                heading="Account"
                columns={['Units', 'Share']}
                rows={accounts.slice(0, maxRows).map(({ userId, userName, units: used }) => ({
                  key: userId,
                  title: userName === null ? 'A deleted account' : toOperatorLink(userId, userName),
                  part: used / units,
                  numbers: [countText(used), rateText(used / units)],
                }))}
              />
              <BarTable
                label="Top apps and API keys"
                heading="App or API keys"
                columns={['Units', 'Daily quota']}
                rows={quotas.slice(0, maxRows).map((quota) => {
                  const part = quota.perDay === null ? undefined : quota.units / Math.max(1, quota.perDay)
                  return {
                    key: quota.id,
                    title: toTitle(quota),
                    part: Math.min(1, part ?? 0),
                    isBad: part !== undefined && part > 0.9,
                    numbers: [countText(quota.units), part === undefined ? 'No limit' : rateText(Math.min(1, part))],
                  }
                })}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

/** Of each table: the rest is in the usage report. */
const maxRows = 5

const toTitle = ({ kind, name, userName }: TopUsageView['quotas'][number]): ReactNode => {
  if (userName === null) return kind === 'app' ? 'A deleted app' : 'A deleted account'
  return (
    <>
      {kind === 'app' ? name : 'API keys'}
      <p className="hint">{userName}</p>
    </>
  )
}
