import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AppView } from '@keyrail/gateway'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { readLocalChoice, storeLocalChoice } from '../../control/localChoice.ts'
import {
  alertsQuery,
  allowListQuery,
  deploymentQuery,
  jwtKeysQuery,
  metricsQuery,
  sessionQuery,
} from '../../control/queries.ts'
import { useMay } from '../../control/useMay.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Icon } from '../../parts/Icon.tsx'

interface Step {
  readonly title: ReactNode
  readonly why: string
  readonly isDone: boolean
}

/** The steps from a new app to one that is safe to publish. Renders nothing once all are done or the user has dismissed it. */
export function AppChecklist({ app }: { readonly app: AppView }) {
  const choiceName = `checklist-${app.id}`
  const [isDismissed, setDismissed] = useState(() => readLocalChoice(choiceName) === 'dismissed')
  const enabled = !isDismissed
  const metrics = useQuery({ ...metricsQuery({ appId: app.id }, 'quarter'), enabled, staleTime: 60_000 })
  const recent = useQuery({ ...metricsQuery({ appId: app.id }, 'hour'), enabled: false })
  const allowList = useQuery({ ...allowListQuery(app.id), enabled })
  const jwtKeys = useQuery({ ...jwtKeysQuery(app.id), enabled })
  const may = useMay()
  const mayAlert = may('manage')
  const alerts = useQuery({ ...alertsQuery, enabled: enabled && mayAlert })
  const deployment = useQuery(deploymentQuery)
  const session = useQuery(sessionQuery)
  if (
    isDismissed ||
    !may('apps:write') ||
    (mayAlert && !alerts.data) ||
    !metrics.data ||
    !allowList.data ||
    !jwtKeys.data
  )
    return null
  const params = { appId: app.id }
  const getsEmails =
    alerts.data?.emails.own === true && deployment.data?.email === true && session.data?.account.emailVerified === true
  const steps: readonly Step[] = [
    {
      title: 'Make the first request',
      why: 'Copy the program on this page and run it.',
      isDone: metrics.data.total + (recent.data?.total ?? 0) > 0,
    },
    {
      title: (
        <Link to="/apps/$appId/settings/allow-list" params={params}>
          Restrict who can use the key
        </Link>
      ),
      why: 'An origin, IP address or method that is not on the allow list is rejected.',
      isDone: allowList.data.items.length > 0,
    },
    {
      title: (
        <Link to="/apps/$appId/settings/advanced" params={params}>
          Set limits
        </Link>
      ),
      why: 'A limit caps what a leaked key can use up.',
      isDone: app.ownLimits !== null,
    },
    {
      title: (
        <Link to="/apps/$appId/settings/jwt-keys" params={params}>
          Import a key for JWTs
        </Link>
      ),
      why: 'Your server signs a token for each user, so that the key alone is not enough.',
      isDone: jwtKeys.data.items.length > 0,
    },
    ...(alerts.data === undefined
      ? []
      : [
          {
            title: <Link to="/account/alerts">Get an alert before the quota is used up</Link>,
            why: 'By email or to a webhook, when 80% and 100% of the daily quota are used.',
            isDone: getsEmails || alerts.data.webhooks.length > 0,
          },
        ]),
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  if (done === steps.length) return null
  return (
    <Card
      title="Getting started"
      lead={`${done} of ${steps.length} steps done.`}
      aside={
        <Button
          size="little"
          label="Dismiss getting started"
          onClick={() => {
            storeLocalChoice(choiceName, 'dismissed')
            setDismissed(true)
            // The button that had the focus is gone.
            document.querySelector('h1')?.focus()
          }}
        >
          Dismiss
        </Button>
      }
    >
      <ol className="checklist">
        {steps.map(({ title, why, isDone }) => (
          <li key={why} className={isDone ? 'done' : undefined}>
            <span className="mark">{isDone && <Icon name="done" />}</span>
            <div>
              <p>
                {title}
                {isDone && <span className="hidden"> (done)</span>}
              </p>
              {!isDone && <p className="hint">{why}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}
