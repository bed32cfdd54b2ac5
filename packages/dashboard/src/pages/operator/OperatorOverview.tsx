import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { OverviewView } from '@keyrail/gateway'
import { LiveBadge, useIsLate } from '../../charts/LiveBadge.tsx'
import { overviewQuery } from '../../control/queries.ts'
import { useReachable } from '../../control/reachable.ts'
import { useNetworks } from '../../networks/useNetworks.ts'
import { FiguresSkeleton, Loaded } from '../../parts/Loaded.tsx'
import { Note } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { clockText, countText, dayText, errorRateText, shortText } from '../../parts/times.ts'
import { ChangeTable } from './overview/ChangeTable.tsx'
import { InstanceFacts } from './overview/InstanceFacts.tsx'
import { getRecentFailures, listProblems } from './overview/listProblems.ts'
import { NodeTable } from './overview/NodeTable.tsx'
import { TopUsage } from './overview/TopUsage.tsx'
import { Traffic } from './overview/Traffic.tsx'

const refetchInterval = 5_000

/** The state of the service on one page: what needs attention, calls, nodes, top usage, recent changes, and the instance. */
export function OperatorOverview() {
  const query = useQuery({ ...overviewQuery, refetchInterval })
  const isReachable = useReachable()
  const isLate = useIsLate(query.dataUpdatedAt, refetchInterval + 5_000)
  return (
    <>
      <PageHead
        title="Overview"
        windowTitle="Operator: overview"
        lead="Calls, nodes, stores and queues are those of the instance that served this page. Usage and changes are those of all instances."
        action={
          query.data && <LiveBadge isLive={isReachable && query.isSuccess && !isLate} updatedAt={query.dataUpdatedAt} />
        }
      />
      <Loaded query={query} shape={<FiguresSkeleton />}>
        {(overview) => (
          <>
            <Problems overview={overview} />
            <Figures overview={overview} />
            <Traffic instance={overview.instance} />
          </>
        )}
      </Loaded>
      <div className="columns">
        <NodeTable />
        <TopUsage />
      </div>
      {query.data && (
        <>
          <ChangeTable overview={query.data} />
          <InstanceFacts instance={query.data.instance} />
        </>
      )}
    </>
  )
}

function Problems({ overview }: { readonly overview: OverviewView }) {
  const { getTitle } = useNetworks()
  const problems = listProblems(overview, getTitle)
  const alerts = <Link to="/account/alerts">Set up alerts</Link>
  if (problems.length === 0)
    return (
      <Note kind="good" action={alerts}>
        Nothing needs your attention.
      </Note>
    )
  return (
    <Note kind={problems.some(({ isBad }) => isBad) ? 'bad' : 'warn'} action={alerts}>
      {problems.map(({ text, to }) => (
        <p key={text}>
          {text} {to !== undefined && <Link to={to}>Upstreams</Link>}
        </p>
      ))}
    </Note>
  )
}

/** The rate is the average of this many seconds. */
const nowSeconds = 10

function Figures({ overview }: { readonly overview: OverviewView }) {
  const { users, apps, apiKeys, startedAt, instance } = overview
  // The last second has not ended.
  const seconds = instance.perSecond.totals.slice(0, -1).slice(-nowSeconds)
  const perSecond = seconds.reduce((sum, calls) => sum + calls, 0) / Math.max(1, seconds.length)
  const recent = getRecentFailures(instance)
  return (
    <dl className="figures">
      {[
        { title: 'Calls a second', value: shortText(perSecond), note: `last ${nowSeconds} seconds` },
        {
          title: 'Failed or rejected',
          value: recent.total === 0 ? '–' : errorRateText(recent.failed, recent.total),
          note: `last ${recent.minutes} minutes`,
        },
        { title: 'Users', value: countText(users), note: '' },
        { title: 'Apps', value: countText(apps), note: '' },
        { title: 'API keys', value: countText(apiKeys), note: '' },
        { title: 'Up since', value: clockText(startedAt), note: dayText(startedAt) },
      ].map(({ title, value, note }) => (
        <div className="card figure" key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
          {note && <dd className="small">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
