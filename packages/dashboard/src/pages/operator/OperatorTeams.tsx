import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { teamsQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { countText, dayText } from '../../parts/times.ts'

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
                <table className="table cards">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">Status</th>
                      <th scope="col" className="number">
                        Members
                      </th>
                      <th scope="col" className="number">
                        Apps
                      </th>
                      <th scope="col" className="number">
                        API keys
                      </th>
                      <th scope="col">Limits</th>
                      <th scope="col">Created</th>
                    </tr>
                  </thead>
                  <tbody>
                    {teams.map((team) => (
                      <tr key={team.id}>
                        <th scope="row">
                          <Link to="/operator/teams/$accountId" params={{ accountId: team.id }}>
                            {team.name}
                          </Link>
                        </th>
                        <td>
                          <span className={team.state === 'active' ? 'badge good' : 'badge bad'}>
                            {team.state === 'active' ? 'Active' : 'Disabled'}
                          </span>
                        </td>
                        <td className="number" data-label="Members">
                          {countText(team.members)}
                        </td>
                        <td className="number" data-label="Apps">
                          {countText(team.apps)}
                        </td>
                        <td className="number" data-label="API keys">
                          {countText(team.apiKeys)}
                        </td>
                        <td data-label="Limits">{team.sharesLimits ? 'Shared' : 'Own'}</td>
                        <td data-label="Created">{dayText(team.createdAt)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
              <ShowMore of={query} />
            </Card>
          )
        }}
      </Loaded>
    </>
  )
}
