import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { TeamView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { teamQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { Card } from '../../parts/Card.tsx'
import { DisableCard } from '../../parts/DisableCard.tsx'
import { LimitsForm } from '../../parts/LimitsForm.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { PageHead } from '../../parts/PageHead.tsx'

const route = getRouteApi('/inside/operator/teams/$accountId')

/** One team: its limits, and a switch to disable it. */
export function OperatorTeam() {
  const { accountId } = route.useParams()
  const query = useQuery(teamQuery(accountId))
  return (
    <Loaded query={query} failedTitle="The team cannot be shown">
      {(team) => (
        <>
          <PageHead title={team.name} crumb={<Link to="/operator/teams">Teams</Link>} />
          <p>
            <Link to="/operator/users/$userId" params={{ userId: team.createdBy }}>
              The user who created it
            </Link>
            {' · '}
            <Link to="/operator/audit" search={{ userId: team.id }}>
              Audit log of this team
            </Link>
          </p>
          <Limits team={team} />
          <Disable team={team} />
        </>
      )}
    </Loaded>
  )
}

function Limits({ team }: { readonly team: TeamView }) {
  const queries = useQueryClient()
  return (
    <Card
      title="Limits"
      help="service/teams"
      lead={
        team.sharesLimits
          ? 'The team shares the limits and the quota of the user who created it. With limits of its own, it gets a quota of its own.'
          : 'The team has a quota of its own. Clear all fields to make it share the limits of the user who created it.'
      }
    >
      <LimitsForm
        id={team.id}
        own={team.sharesLimits ? null : team.limits}
        save={async (limits) => {
          const changed = await callApi('PUT /api/admin/accounts/{accountId}/limits', {
            params: { accountId: team.id },
            body: { limits },
          })
          queries.setQueryData(teamQuery(team.id).queryKey, changed)
        }}
      />
    </Card>
  )
}

function Disable({ team }: { readonly team: TeamView }) {
  const queries = useQueryClient()
  const isActive = team.state === 'active'
  return (
    <DisableCard
      name={team.name}
      state={team.state}
      lead={
        isActive
          ? 'Rejects calls with the team’s keys, and its members’ requests for the team. You can enable it again.'
          : 'The team’s keys and tokens work again.'
      }
      send={(password) => {
        const request = { params: { accountId: team.id }, body: toConfirmBody(password) }
        return isActive
          ? callApi('POST /api/admin/accounts/{accountId}/disable', request)
          : callApi('POST /api/admin/accounts/{accountId}/enable', request)
      }}
      done={(changed) => queries.setQueryData(teamQuery(team.id).queryKey, changed)}
    />
  )
}
