import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import type { DeploymentView, ServiceName, UseCase } from '@keyrail/gateway'
import { callApi } from '../control/callApi.ts'
import { appQuery, appsQuery, deploymentQuery } from '../control/queries.ts'
import { useFocus } from '../control/useFocus.ts'
import { useNewKey } from '../control/useNewKey.ts'
import { useStored } from '../control/useStored.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { NetworksField } from '../networks/NetworksField.tsx'
import { Button } from '../parts/Button.tsx'
import { Choices } from '../parts/Choices.tsx'
import { DescriptionField } from '../parts/DescriptionField.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Fold } from '../parts/Fold.tsx'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { Needs, NotAllowed } from '../parts/Needs.tsx'
import { Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { TextField } from '../parts/TextField.tsx'
import { countText } from '../parts/times.ts'
import { toUseCaseTitle } from '../parts/toUseCaseTitle.ts'

interface Draft {
  readonly name: string
  readonly networks: readonly string[]
  readonly description: string
  readonly useCase: UseCase
  readonly services: readonly ServiceName[]
}

/** Creates an app: its name is enough, everything else has a default. */
export function NewApp() {
  const deployment = useQuery(deploymentQuery)
  const first = useInfiniteQuery(appsQuery(''))
  const isFirst = first.data?.pages[0]?.total === 0
  const isFull = first.data?.pages[0]?.free === 0
  return (
    <div className="page narrow">
      <PageHead
        title={isFirst ? 'Create your first app' : 'Create app'}
        crumb={isFirst ? undefined : <Link to="/apps">Apps</Link>}
        lead="An app has one key, and a URL on each network."
      />
      {first.isPending ? (
        <Skeleton lines={6} />
      ) : isFull ? (
        <Empty
          title="You have reached the maximum number of apps"
          action={
            <Link to="/apps" className="button">
              To your apps
            </Link>
          }
        >
          <p>
            An account can have {countText(deployment.data?.limits.maxApps ?? 0)} apps. Delete one to make room. You can
            create another from midnight UTC.
          </p>
        </Empty>
      ) : (
        <Needs scope="apps:write" otherwise={<NotAllowed />}>
          <Loaded query={deployment}>{(data) => <Form deployment={data} />}</Loaded>
        </Needs>
      )}
    </div>
  )
}

/** The networks of the chain that the config names first. */
const getDefaultNetworks = ({ networks }: DeploymentView): readonly string[] =>
  networks.filter(({ chain }) => chain === networks[0]?.chain).map(({ network }) => network)

const whatServices: Readonly<Record<ServiceName, string>> = {
  'Node API': 'JSON-RPC calls to the chain’s nodes',
  'Private transactions': 'Its transactions go only to nodes that keep them private',
}

function Form({ deployment }: { readonly deployment: DeploymentView }) {
  const router = useRouter()
  const queries = useQueryClient()
  const takeNewKey = useNewKey()
  const [typed, setTyped, clearTyped] = useStored<Partial<Draft>>('new-app', {})
  const draft: Draft = {
    name: '',
    description: '',
    useCase: 'Other',
    services: ['Node API'],
    ...typed,
    // The service may no longer have a network of an older draft.
    networks:
      typed.networks?.filter((name) => deployment.networks.some(({ network }) => network === name)) ??
      getDefaultNetworks(deployment),
  }
  const change = (part: Partial<Draft>): void => setTyped({ ...typed, ...part })
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => {
      const length = [...draft.name.trim()].length
      return {
        name: length === 0 ? 'Enter a name' : length > 64 ? 'Must have 64 characters at most' : undefined,
        networks: draft.networks.length === 0 ? 'Choose at least one' : undefined,
        description: [...draft.description.trim()].length > 500 ? 'Must have 500 characters at most' : undefined,
        services: draft.services.length === 0 ? 'Choose at least one' : undefined,
      }
    },
    send: () =>
      callApi('POST /api/apps', {
        body: {
          name: draft.name.trim(),
          ...(draft.description.trim() && { description: draft.description.trim() }),
          useCase: draft.useCase,
          chain: deployment.networks.find(({ network }) => network === draft.networks[0])?.chain ?? '',
          networks: draft.networks,
          services: draft.services,
        },
      }),
    done: async ({ app, apiKey }) => {
      await takeNewKey({ id: app.id, apiKey, revealable: app.key.revealable })
      queries.setQueryData(appQuery(app.id).queryKey, app)
      void queries.invalidateQueries({ queryKey: ['apps'] })
      await router.navigate({ to: '/apps/$appId/setup', params: { appId: app.id }, replace: true })
      clearTyped()
    },
    fields: ['name', 'networks', 'description', 'useCase', 'services'],
  })
  const name = useFocus()
  return (
    <form className="card" noValidate onSubmit={submit} aria-label="Create app">
      <div className="card-body">
        <Problem text={problem} />
        <TextField
          label="Name"
          name="name"
          value={draft.name}
          onChange={(value) => change({ name: value })}
          required
          most={64}
          inputRef={name}
          fix={getFix('name')}
        />
        <NetworksField
          label="Chains and networks"
          offered={deployment}
          value={draft.networks}
          onChange={(networks) => change({ networks })}
          nothing="No chain and no network of this service matches."
          hint="You can change them later."
          fix={getFix('networks')}
        />
        <Fold
          title="Description, use case and services"
          values={[toUseCaseTitle(draft.useCase), ...draft.services].join(', ')}
          hasProblem={['description', 'useCase', 'services'].some((field) => getFix(field) !== undefined)}
        >
          <DescriptionField
            value={draft.description}
            onChange={(description) => change({ description })}
            fix={getFix('description')}
          />
          <SelectField
            label="Use case"
            name="useCase"
            value={draft.useCase}
            onChange={(useCase) => change({ useCase })}
            options={deployment.useCases.map((value) => ({ value, title: toUseCaseTitle(value) }))}
            fix={getFix('useCase')}
          />
          <Choices
            legend="Services"
            kind="any"
            name="services"
            value={draft.services}
            onChange={(services) => change({ services })}
            options={deployment.services.map((value) => ({ value, title: value, what: whatServices[value] }))}
            fix={getFix('services')}
          />
        </Fold>
        <div className="row spread">
          <Link to="/apps" className="button plain" onClick={clearTyped}>
            Cancel
          </Link>
          <Button kind="primary" type="submit" busy={isPending}>
            Create app
          </Button>
        </div>
      </div>
    </form>
  )
}
