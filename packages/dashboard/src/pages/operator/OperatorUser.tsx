import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { UserView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { deploymentQuery, userMetricsQuery, userQuery, userUsageQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { DisableCard } from '../../parts/DisableCard.tsx'
import { LimitsForm } from '../../parts/LimitsForm.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Problem } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { SecretLink } from '../../parts/SecretLink.tsx'
import { countText, dayText, limitText } from '../../parts/times.ts'
import { UsageHistory } from '../../parts/UsageHistory.tsx'
import { UsageMeter } from '../../parts/UsageMeter.tsx'

const route = getRouteApi('/inside/operator/users/$userId')

/** One account: its usage and limits, a link for a new password, and a switch to disable it. */
export function OperatorUser() {
  const { userId } = route.useParams()
  const query = useQuery(userQuery(userId))
  return (
    <Loaded query={query} failedTitle="The account cannot be shown">
      {(user) => (
        <>
          <PageHead
            title={user.email}
            crumb={<Link to="/operator/users">Users</Link>}
            action={
              <span className={user.state === 'active' ? 'badge good' : 'badge bad'}>
                <span className="dot" aria-hidden="true" />
                {user.state === 'active' ? 'Active' : 'Disabled'}
              </span>
            }
          />
          <dl className="facts">
            <div>
              <dt>Apps</dt>
              <dd>{countText(user.apps)}</dd>
            </div>
            <div>
              <dt>API keys</dt>
              <dd>{countText(user.apiKeys)}</dd>
            </div>
            <div>
              <dt>Created</dt>
              <dd>{dayText(user.createdAt)}</dd>
            </div>
            <div className="wide">
              <dt>Id</dt>
              <dd>
                <code>{user.id}</code>
              </dd>
            </div>
          </dl>
          <Link to="/operator/audit" search={{ userId: user.id }}>
            Audit log of this account
          </Link>
          <UserUsage user={user} />
          <UsageHistory query={userMetricsQuery(user.id)} />
          <UserLimits user={user} />
          <ResetLink user={user} />
          {user.hasSecondFactor && <ResetSecondFactor user={user} />}
          <Disable user={user} />
        </>
      )}
    </Loaded>
  )
}

function UserUsage({ user }: { readonly user: UserView }) {
  const usage = useQuery({ ...userUsageQuery(user.id), refetchInterval: 10_000 })
  return (
    <Loaded query={usage}>
      {({ day, month }) => (
        <Card title="Usage of API keys" lead="All API keys together. Apps have limits of their own.">
          <div className="pair">
            <UsageMeter of="All API keys" period="day" usage={day} />
            <UsageMeter of="All API keys" period="month" usage={month} />
          </div>
        </Card>
      )}
    </Loaded>
  )
}

function UserLimits({ user }: { readonly user: UserView }) {
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  return (
    <Card
      title="Limits"
      help="service/limits"
      lead={
        deployment &&
        `Empty fields use the defaults of the service: ${limitText(deployment.limits.app.perDay)} a day for each app, ${limitText(deployment.limits.apiKey.perDay)} a day for all API keys together.`
      }
    >
      <LimitsForm
        id={user.id}
        own={user.limits}
        save={async (limits) => {
          const changed = await callApi('PUT /api/admin/users/{userId}/limits', {
            params: { userId: user.id },
            body: { limits },
          })
          queries.setQueryData(userQuery(user.id).queryKey, changed)
        }}
      />
    </Card>
  )
}

function ResetLink({ user }: { readonly user: UserView }) {
  const { data: deployment } = useQuery(deploymentQuery)
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>()
  const { submit, isPending, problem } = useSubmit({
    send: (password) =>
      callApi('POST /api/admin/users/{userId}/reset-link', {
        params: { userId: user.id },
        body: toConfirmBody(password),
      }),
    done: setLink,
  })
  if (deployment?.passwordLogin === false) return null
  return (
    <Card title="New password" lead="Creates a link with which the user can set a new password once.">
      <Problem text={problem} />
      {link && <SecretLink {...link} what="the link" />}
      <div className="row end">
        <Button busy={isPending} onClick={() => submit()}>
          Create link
        </Button>
      </div>
    </Card>
  )
}

function ResetSecondFactor({ user }: { readonly user: UserView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [isConfirming, setConfirming] = useState(false)
  const resetting = useSubmit({
    send: (password) =>
      callApi('POST /api/admin/users/{userId}/second-factor/reset', {
        params: { userId: user.id },
        body: toConfirmBody(password),
      }),
    done: (changed) => {
      setConfirming(false)
      queries.setQueryData(userQuery(user.id).queryKey, changed)
      say('Second factors removed')
    },
  })
  return (
    <Card
      title="Second factor"
      help="service/second-factor#reset"
      lead="For a user who has lost all second factors and recovery codes. Be sure who asks: then the password is enough."
    >
      <div className="row end">
        <Button kind="danger" onClick={() => setConfirming(true)}>
          Remove the second factors
        </Button>
      </div>
      {isConfirming && (
        <ConfirmDialog
          of={resetting}
          title={`Remove the second factors of ${user.email}?`}
          lead="The user is logged out, and can then log in with the password alone. They get an email about it."
          action="Remove"
          onClose={() => setConfirming(false)}
        />
      )}
    </Card>
  )
}

function Disable({ user }: { readonly user: UserView }) {
  const queries = useQueryClient()
  const isActive = user.state === 'active'
  return (
    <DisableCard
      name={user.email}
      state={user.state}
      lead={
        isActive
          ? 'Logs the user out and rejects calls with the account’s keys and tokens. You can enable it again.'
          : 'The user can log in again, and the account’s keys and tokens work again.'
      }
      send={(password) => {
        const request = { params: { userId: user.id }, body: toConfirmBody(password) }
        return isActive
          ? callApi('POST /api/admin/users/{userId}/disable', request)
          : callApi('POST /api/admin/users/{userId}/enable', request)
      }}
      done={(changed) => {
        queries.setQueryData(userQuery(user.id).queryKey, changed)
        return queries.invalidateQueries({ queryKey: ['admin', 'users'] })
      }}
    />
  )
}
