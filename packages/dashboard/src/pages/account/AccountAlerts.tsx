import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AlertDeliveryView, AlertsView } from '@keyrail/gateway'
import { Link } from '@tanstack/react-router'
import { callApi } from '../../control/callApi.ts'
import { alertsQuery, deploymentQuery, sessionQuery } from '../../control/queries.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs, NotAllowed } from '../../parts/Needs.tsx'
import { Note } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { momentText } from '../../parts/times.ts'
import { AlertRules } from './AlertRules.tsx'
import { AlertWebhooks, operatorTopics } from './AlertWebhooks.tsx'
import { TableHead } from '../../parts/TableHead.tsx'

/** When alerts are sent, to whom, and what was sent. */
export function AccountAlerts() {
  return (
    <>
      <PageHead
        title="Alerts"
        windowTitle="Account: alerts"
        lead="Sent when 80% and 100% of a daily quota are used, once a day for each app, and for all API keys together; and when calls fail or are slow, by your rules."
      />
      <Needs scope="manage" otherwise={<NotAllowed />}>
        <Alerts />
      </Needs>
    </>
  )
}

function Alerts() {
  const query = useQuery({ ...alertsQuery, refetchInterval: 10_000 })
  return (
    <Loaded query={query}>
      {(alerts) => (
        <>
          <div className="columns">
            <Emails alerts={alerts} />
            <AlertWebhooks alerts={alerts} />
          </div>
          <AlertRules rules={alerts.rules} />
          <Deliveries deliveries={alerts.deliveries} />
        </>
      )}
    </Loaded>
  )
}

function Emails({ alerts }: { readonly alerts: AlertsView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const { data: deployment } = useQuery(deploymentQuery)
  const { data: session } = useQuery(sessionQuery)
  const isOperator = session?.account.role === 'operator'
  const draft = useDraft('alerts/emails', alerts.emails)
  const { values } = draft
  const saving = useSubmit({
    send: () =>
      callApi('PUT /api/alerts/emails', {
        body: {
          own: values.own,
          allUsers: isOperator && values.allUsers,
          aboutService: isOperator && values.aboutService,
        },
      }),
    done: (saved) => {
      queries.setQueryData(alertsQuery.queryKey, saved)
      draft.clear()
      say('Saved')
    },
  })
  if (deployment?.email !== true)
    return (
      <Card title="Email" help="service/email">
        <p className="soft">
          This service sends no email. Add a webhook to be alerted, or ask the operator to set up email.
        </p>
      </Card>
    )
  return (
    <Card title="Email" help="service/alerts#email">
      {session?.account.emailVerified === false && (
        <Note kind="warn">
          Your email address is not confirmed, so no alert is sent to it.{' '}
          <Link to="/account/security">Confirm the address</Link>
        </Note>
      )}
      <SaveForm of={saving} draft={draft}>
        <Choices
          legend={`Send an email to ${session?.account.email ?? 'you'}`}
          kind="any"
          name="emails"
          value={(['own', 'allUsers', 'aboutService'] as const).filter((name) => values[name])}
          onChange={(chosen) =>
            draft.change({
              own: chosen.includes('own'),
              allUsers: chosen.includes('allUsers'),
              aboutService: chosen.includes('aboutService'),
            })
          }
          options={[{ value: 'own', title: 'about my apps and API keys' }, ...(isOperator ? operatorTopics : [])]}
        />
      </SaveForm>
    </Card>
  )
}

const states: Readonly<Record<AlertDeliveryView['state'], readonly [title: string, kind: 'good' | 'warn' | 'bad']>> = {
  delivered: ['Delivered', 'good'],
  pending: ['Pending', 'warn'],
  failed: ['Failed', 'bad'],
}

function Deliveries({ deliveries }: { readonly deliveries: readonly AlertDeliveryView[] }) {
  return (
    <Card title="Last deliveries">
      {deliveries.length === 0 ? (
        <p className="soft">
          No alert was sent yet. The first one is sent when 80% of a daily quota are used; test a webhook to see one
          now.
        </p>
      ) : (
        <table className="table cards">
          <TableHead titles={['Alert', 'To', 'Created', 'Status', 'Last attempt']} />
          <tbody>
            {deliveries.map(({ id, title, webhookId, createdAt, state, attempts, result, attemptedAt }) => (
              <tr key={id}>
                <th scope="row">{title}</th>
                <td data-label="To">{webhookId === null ? 'Email' : 'Webhook'}</td>
                <td data-label="Created">{momentText(createdAt)}</td>
                <td data-label="Status">
                  <span className={`badge ${states[state][1]}`}>
                    <span className="dot" aria-hidden="true" />
                    {states[state][0]}
                  </span>
                </td>
                <td data-label="Last attempt">
                  {attemptedAt === null ? '–' : `${momentText(attemptedAt)}: ${result ?? ''} (attempt ${attempts})`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
