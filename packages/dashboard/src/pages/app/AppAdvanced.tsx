import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AppView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { appQuery, usageQuery } from '../../control/queries.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { NetworkLimits } from '../../networks/NetworkLimits.tsx'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { ConfirmedReadsCard } from '../../parts/ConfirmedReadsCard.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { limitNames, LimitsForm, limitTitles } from '../../parts/LimitsForm.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { NameFields } from '../../parts/NameFields.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Note } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SelectField } from '../../parts/SelectField.tsx'
import { countText, limitText } from '../../parts/times.ts'
import { toUseCaseTitle } from '../../parts/toUseCaseTitle.ts'
import { UsageMeter } from '../../parts/UsageMeter.tsx'
import { WeightsHint } from '../../parts/WeightsHint.tsx'
import { AppKeyCard } from './AppKeyCard.tsx'
import { AppMove } from './AppMove.tsx'
import { ContractErrorsCard } from './ContractErrorsCard.tsx'
import { useApp, useDeployment } from './useApp.ts'
import { useAppChange } from './useAppChange.ts'

/** All settings of an app. Each card is saved separately. */
export function AppAdvanced() {
  const app = useApp()
  const change = useAppChange(app)
  return (
    <>
      <h2 className="hidden">Advanced configuration</h2>
      <About app={app} />
      <Services app={app} />
      <Limits app={app} />
      <AppKeyCard app={app} />
      <RequireJwt app={app} />
      <ContractErrorsCard app={app} />
      <ConfirmedReadsCard of={app} needs="apps:write" save={change} />
      <Needs scope="manage">
        <AppMove app={app} />
      </Needs>
    </>
  )
}

function About({ app }: { readonly app: AppView }) {
  const change = useAppChange(app)
  const deployment = useDeployment()
  const { say } = useDialogs()
  const draft = useDraft(`${app.id}/about`, { name: app.name, description: app.description, useCase: app.useCase })
  const saving = useSubmit({
    check: () => ({ name: draft.values.name.trim() === '' ? 'Enter a name' : undefined }),
    send: () => change(draft.changes),
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['name', 'description', 'useCase'],
  })
  return (
    <Card title="Details">
      <SaveForm of={saving} draft={draft} needs="apps:write">
        <NameFields values={draft.values} onChange={draft.change} getFix={saving.getFix} />
        <SelectField
          label="Use case"
          name="useCase"
          value={draft.values.useCase}
          onChange={(value) => draft.change({ useCase: value })}
          options={(deployment?.useCases ?? [app.useCase]).map((value) => ({ value, title: toUseCaseTitle(value) }))}
          fix={saving.getFix('useCase')}
        />
      </SaveForm>
    </Card>
  )
}

function Services({ app }: { readonly app: AppView }) {
  const change = useAppChange(app)
  const deployment = useDeployment()
  const { say } = useDialogs()
  const draft = useDraft(`${app.id}/services`, { services: app.services })
  const { services } = draft.values
  const saving = useSubmit({
    send: () => change(draft.changes),
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['services'],
  })
  return (
    <Card title="Services" lead="Calls to a service that is off are rejected, with an error that names the service.">
      <SaveForm of={saving} draft={draft} needs="apps:write">
        {!services.includes('Node API') && (
          <Note kind="warn">
            Without the Node API, {app.services.includes('Node API') ? 'the app will be off:' : 'the app is off:'} all
            its calls are rejected.
          </Note>
        )}
        <Choices
          legend="Services"
          kind="any"
          name="services"
          value={services}
          onChange={(value) => draft.change({ services: value })}
          options={(deployment?.services ?? app.services).map((value) => ({ value, title: value }))}
          fix={saving.getFix('services')}
        />
      </SaveForm>
    </Card>
  )
}

const ownTitles = {
  perDay: 'Your limit a day',
  perMonth: 'Your limit a month',
  perSecond: 'Your limit a second',
} as const

function Limits({ app }: { readonly app: AppView }) {
  const change = useAppChange(app)
  const usage = useQuery({ ...usageQuery(app.id), refetchInterval: 10_000 })
  return (
    <Card
      title="Limits"
      help="service/limits#default-limits"
      lead="The current limits. Set lower ones to cap the cost of a mistake or a leaked key."
    >
      <dl className="facts">
        {limitNames.map((name) => (
          <div key={name}>
            <dt>{limitTitles[name]}</dt>
            <dd>{limitText(app.limits[name])}</dd>
          </div>
        ))}
        {app.limits.perSecond !== null && (
          <div>
            <dt>Burst</dt>
            <dd>{countText(app.limits.burst)}</dd>
          </div>
        )}
      </dl>
      <Loaded query={usage}>
        {({ day, month, weights, networks }) => (
          <>
            <div className="pair">
              <UsageMeter of="This app" period="day" usage={day} />
              <UsageMeter of="This app" period="month" usage={month} />
            </div>
            <WeightsHint weights={weights} />
            <NetworkLimits networks={networks} />
          </>
        )}
      </Loaded>
      <LimitsForm
        id={app.id}
        own={app.ownLimits}
        needs="apps:write"
        titles={ownTitles}
        save={async (limits) => {
          await change({ limits })
          void usage.refetch()
        }}
      />
    </Card>
  )
}

function RequireJwt({ app }: { readonly app: AppView }) {
  const change = useAppChange(app)
  const { say } = useDialogs()
  const deployment = useDeployment()
  const queries = useQueryClient()
  const { requireJwt } = app
  const action = requireJwt ? 'Stop requiring tokens' : 'Require JWT'
  return (
    <Card
      title="Require JWT"
      help="front-end-keys#short-lived-tokens"
      lead={`Each call then needs a token that one of the app’s JWT keys${deployment ? ` (at most ${deployment.limits.maxJwtKeys})` : ''} has signed. The key alone is rejected.`}
      aside={
        <span className={app.requireJwt ? 'badge good' : 'badge'}>
          <span className="dot" aria-hidden="true" />
          {app.requireJwt ? 'Required' : 'Not required'}
        </span>
      }
    >
      <Needs scope="apps:write">
        <div className="row end">
          <ConfirmedButton
            title={requireJwt ? 'Stop requiring tokens?' : 'Require a token for every call?'}
            lead={
              requireJwt
                ? 'Anyone who has the key can then make calls, within the allow list.'
                : 'Calls without a token that one of the app’s JWT keys signed are rejected immediately. Programs that send none stop working.'
            }
            action={action}
            send={() => change({ requireJwt: !requireJwt })}
            titles={{ requireJwt: 'This' }}
            done={({ version }) =>
              say(requireJwt ? 'Calls no longer need a token' : 'Every call needs a token now', {
                undo: async () => {
                  const params = { appId: app.id }
                  const undone = await callApi('PATCH /api/apps/{appId}', { params, body: { version, requireJwt } })
                  queries.setQueryData(appQuery(app.id).queryKey, undone)
                },
              })
            }
          >
            {action}
          </ConfirmedButton>
        </div>
      </Needs>
    </Card>
  )
}
