import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { teamsQuery } from '../../control/queries.ts'
import { AccountTable } from '../../parts/AccountTable.tsx'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { countText } from '../../parts/times.ts'

/** The teams of the service. */
export function OperatorTeams() {
  const query = useInfiniteQuery(teamsQuery)
  return (
    <>
      <PageHead title="Teams" windowTitle="Operator: teams" />
      <Loaded query={query}>
        {({ pages }) => {
          const teams = pages.flatMap(({ items }) => items)
          return (
            <Card>
              {teams.length === 0 ? (
                <p className="soft">No teams yet. Users create them on their Members page.</p>
              ) : (
                <AccountTable
                  accounts={teams}
                  name={{
                    title: 'Name',
                    show: ({ id, name }) => (
                      <Link to="/operator/teams/$accountId" params={{ accountId: id }}>
                        {name}
                      </Link>
                    ),
                  }}
                  columns={[
                    { title: 'Members', isNumber: true, show: ({ members }) => countText(members) },
                    { title: 'Limits', show: ({ sharesLimits }) => (sharesLimits ? 'Shared' : 'Own') },
                  ]}
                />
              )}
              <ShowMore of={query} />
            </Card>
          )
        }}
      </Loaded>
    </>
  )
}
