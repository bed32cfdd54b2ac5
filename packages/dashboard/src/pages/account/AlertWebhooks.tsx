import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AlertsView, NewWebhookView, WebhookTestView, WebhookView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { alertsQuery, sessionQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Note, Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText } from '../../parts/times.ts'
import { TableHead } from '../../parts/TableHead.tsx'

type OperatorTopic = 'allUsers' | 'aboutService'

/** What only operators get alerts about. */
export const operatorTopics: readonly {
  readonly value: OperatorTopic
  readonly title: string
  readonly what?: string
}[] = [
  { value: 'allUsers', title: 'about the apps and API keys of all users' },
  {
    value: 'aboutService',
    title: 'about the service',
    what: 'A network without nodes, a lost store, a full disk, the certificate, failing nodes.',
  },
]

/** The webhooks of the account, and a form to add one. */
export function AlertWebhooks({ alerts: { webhooks, maxWebhooks } }: { readonly alerts: AlertsView }) {
  const queries = useQueryClient()
  const isOperator = useQuery(sessionQuery).data?.account.role === 'operator'
  const [url, setUrl, clearUrl] = useStored('new-webhook/url', '')
  const [topics, setTopics] = useStored<readonly OperatorTopic[]>('new-webhook/topics', [])
  const [made, setMade] = useState<NewWebhookView>()
  const adding = useSubmit({
    check: () => ({ url: url.trim() === '' ? 'Enter the URL of your server' : undefined }),
    send: (password) =>
      callApi('POST /api/alerts/webhooks', {
        body: {
          url,
          ...(isOperator && Object.fromEntries(topics.map((topic) => [topic, true]))),
          ...toConfirmBody(password),
        },
      }),
    done: async (added) => {
      clearUrl()
      setMade(added)
      await queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
    },
    fields: ['url'],
  })
  return (
    <Card
      title="Webhooks"
      help="service/alerts#webhooks"
      lead="Each alert is a POST with JSON to your server, signed as Standard Webhooks are. A failed one is retried for nine hours."
    >
      {made && <Secret made={made} />}
      {webhooks.length > 0 && (
        <table className="table cards">
          <TableHead titles={['URL', 'Created']} hasButtons />
          <tbody>
            {webhooks.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} onSecret={setMade} />
            ))}
          </tbody>
        </table>
      )}
      {webhooks.length >= maxWebhooks ? (
        <p className="soft">You have {maxWebhooks} webhooks, the maximum.</p>
      ) : (
        <SaveForm of={adding} action="Add webhook">
          <TextField
            label="URL"
            name="url"
            value={url}
            onChange={setUrl}
            placeholder="https://example.org/keyrail"
            fix={adding.getFix('url')}
            required
            mono
          />
          {isOperator && (
            <Choices
              legend="Also send it alerts"
              kind="any"
              name="topics"
              value={topics}
              onChange={setTopics}
              options={operatorTopics}
            />
          )}
        </SaveForm>
      )}
    </Card>
  )
}

function Secret({ made }: { readonly made: NewWebhookView }) {
  return (
    <Note kind="good" action={<CopyButton what="the secret" text={() => made.secret} />}>
      <p>
        Copy the secret of {made.webhook.url} now: it is not shown again. Your server verifies the header{' '}
        <code>webhook-signature</code> with it, as a library of Standard Webhooks does.
      </p>
      <code>{made.secret}</code>
    </Note>
  )
}

function WebhookRow(props: {
  readonly webhook: WebhookView
  readonly onSecret: (made: NewWebhookView | undefined) => void
}) {
  const { id, url, allUsers, aboutService, createdAt } = props.webhook
  const params = { webhookId: id }
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [tested, setTested] = useState<WebhookTestView>()
  const testing = useSubmit({
    send: () => callApi('POST /api/alerts/webhooks/{webhookId}/test', { params }),
    done: setTested,
  })
  return (
    <tr>
      <th scope="row">
        <code>{url}</code>
        {allUsers && <span className="soft small"> All users</span>}
        {aboutService && <span className="soft small"> The service</span>}
        <Problem text={testing.problem} />
        {tested && (
          <Note kind={tested.ok ? 'good' : 'bad'}>
            <p>
              {tested.ok ? 'The test event was received' : 'The test event failed'}: {tested.result}
            </p>
            {tested.fix !== null && <p>{tested.fix}</p>}
          </Note>
        )}
      </th>
      <td data-label="Created">{dayText(createdAt)}</td>
      <td>
        <div className="row end">
          <Button size="little" busy={testing.isPending} label={`Test ${url}`} onClick={() => testing.submit()}>
            Test
          </Button>
          <ConfirmedButton
            size="little"
            label={`Rotate secret of ${url}`}
            title="Rotate the secret?"
            lead="Alerts are also signed with the old secret for 24 hours, so that your server rejects none until it has the new one."
            action="Rotate secret"
            send={(password) =>
              callApi('POST /api/alerts/webhooks/{webhookId}/rotate', { params, body: toConfirmBody(password) })
            }
            done={props.onSecret}
          >
            Rotate secret
          </ConfirmedButton>
          <ConfirmedButton
            size="little"
            kind="danger"
            label={`Remove ${url}`}
            title="Remove the webhook?"
            lead={`${url} receives no more alerts, and its deliveries are deleted.`}
            action="Remove"
            send={() => callApi('DELETE /api/alerts/webhooks/{webhookId}', { params })}
            done={() => {
              say('Removed')
              props.onSecret(undefined)
              return queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
            }}
          >
            Remove
          </ConfirmedButton>
        </div>
      </td>
    </tr>
  )
}
