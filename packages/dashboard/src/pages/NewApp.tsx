import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import type { DeploymentView, ServiceName, UseCase } from '@keyrail/gateway'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { SyntheticEvent } from 'react'
import { flushSync } from 'react-dom'
import { callApi } from '../control/callApi.ts'
import { appQuery, appsQuery, deploymentQuery, isNameTakenQuery } from '../control/queries.ts'
import { useNewKey } from '../control/useNewKey.ts'
import { useStored } from '../control/useStored.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { searchChains } from '../networks/searchNetworks.ts'
import type { ChainChoice } from '../networks/searchNetworks.ts'
import { Button } from '../parts/Button.tsx'
import { Choices } from '../parts/Choices.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Loaded, Skeleton } from '../parts/Loaded.tsx'
import { NameFields } from '../parts/NameFields.tsx'
import { Needs, NotAllowed } from '../parts/Needs.tsx'
import { Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { countText } from '../parts/times.ts'
import { ChainFields, chooseChain } from './ChainFields.tsx'

const route = getRouteApi('/inside/apps/new')

interface Draft {
  readonly name: string
  readonly description: string
  readonly useCase: UseCase | ''
  /** `undefined` until one is chosen. */
  readonly chain: ChainChoice | undefined
  readonly networks: readonly string[]
  readonly services: readonly ServiceName[]
}

/** A draft as it is stored: with the chain by name. */
type StoredDraft = Omit<Draft, 'chain'> & { readonly chain: string }

const steps = ['Details', 'Chain', 'Services'] as const

/** Creates an app in three steps. Each step has a URL of its own, so that the browser's Back leads to the previous one. */
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
          <Loaded query={deployment}>{(data) => <Wizard deployment={data} />}</Loaded>
        </Needs>
      )}
    </div>
  )
}

function Wizard({ deployment }: { readonly deployment: DeploymentView }) {
  const { step: requested = 1 } = route.useSearch()
  const router = useRouter()
  const queries = useQueryClient()
  const takeNewKey = useNewKey()
  const findChains = useMemo(() => searchChains(deployment), [deployment])
  const [typed, setTyped, clearTyped] = useStored<Partial<StoredDraft>>('new-app', {})
  const draft = useMemo((): Draft => {
    const chains = findChains('')
    const isOnly = chains.length === 1
    const chosen = chains.find(({ chain }) => chain === typed.chain)
    return {
      name: '',
      description: '',
      useCase: '',
      services: ['Node API'],
      ...chooseChain(isOnly ? chains[0] : undefined),
      ...typed,
      ...(typed.chain === undefined ? {} : { chain: chosen }),
    } as Draft
  }, [deployment, findChains, typed])
  const [fixes, setFixes] = useState<Readonly<Record<string, string>>>({})
  const change = (part: Partial<Draft>): void => {
    const { chain, ...rest } = part
    setTyped({ ...typed, ...rest, ...('chain' in part && { chain: chain?.chain }) } as Partial<StoredDraft>)
  }

  const findProblems = (step: number): Record<string, string> => {
    const length = [...draft.name.trim()].length
    const problems: Record<string, string> = {}
    if (step === 1) {
      if (length === 0) problems['name'] = 'Enter a name.'
      else if (length > 64) problems['name'] = 'Must have 64 characters at most.'
      if ([...draft.description.trim()].length > 500) problems['description'] = 'Must have 500 characters at most.'
      if (draft.useCase === '') problems['useCase'] = 'Choose a use case.'
    }
    if (step === 2 && draft.chain === undefined) problems['chain'] = 'Choose a chain.'
    else if (step === 2 && draft.networks.length === 0) problems['networks'] = 'Choose at least one.'
    if (step === 3 && draft.services.length === 0) problems['services'] = 'Choose at least one.'
    return problems
  }
  const isDone = (step: number): boolean => Object.keys(findProblems(step)).length === 0
  // A link to a later step, or a reload there, opens the first step that is not complete.
  const step = [1, 2, 3].find((one) => one === requested || !isDone(one)) ?? 1

  const { submit, isPending, problem, getFix, clear } = useSubmit({
    send: () =>
      callApi('POST /api/apps', {
        body: {
          name: draft.name.trim(),
          ...(draft.description.trim() && { description: draft.description.trim() }),
          useCase: draft.useCase as UseCase,
          chain: draft.chain?.chain ?? '',
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
    fields: ['name', 'description', 'useCase', 'chain', 'networks', 'services'],
  })
  const fix = (field: string): string | undefined => fixes[field] ?? getFix(field)

  const form = useRef<HTMLFormElement>(null)
  const seen = useRef(step)
  useEffect(() => {
    if (seen.current === step) return
    seen.current = step
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }, [step])
  // The service finds a name that is taken only at the last step: back to its field.
  const nameFix = getFix('name') ?? getFix('description') ?? getFix('useCase')
  useEffect(() => {
    if (nameFix !== undefined) void router.navigate({ to: '/apps/new', search: {} })
  }, [nameFix, router])

  /** Rendered at once, so that the field can be focused. */
  const showFixes = (shown: Readonly<Record<string, string>>): void => {
    flushSync(() => setFixes(shown))
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }
  /** If it cannot be found out, the service rejects the name at the last step. */
  const isNameTaken = (name: string): Promise<boolean> => queries.fetchQuery(isNameTakenQuery(name)).catch(() => false)

  const go = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault()
    const problems = findProblems(step)
    showFixes(problems)
    if (Object.keys(problems).length > 0) return
    if (step === 3) return submit(event)
    clear()
    if (step === 1 && (await isNameTaken(draft.name.trim()))) {
      showFixes({ name: 'Another app of this account has this name. Choose another name.' })
      return
    }
    void router.navigate({ to: '/apps/new', search: { step: step === 1 ? 2 : 3 } })
  }

  return (
    <form className="card" ref={form} noValidate onSubmit={(event) => void go(event)} aria-label="Create app">
      <div className="card-body">
        <ol className="steps" aria-label="Steps">
          {steps.map((title, at) => (
            <li key={title} className={at + 1 < step ? 'done' : ''} aria-current={at + 1 === step ? 'step' : undefined}>
              <span className="mark" aria-hidden="true">
                {at + 1}
              </span>
              {title}
            </li>
          ))}
        </ol>
        <Problem text={problem} />
        {step === 1 && (
          <>
            <NameFields values={draft} onChange={change} getFix={fix} />
            <SelectField
              label="Use case"
              name="useCase"
              nothing="Choose one"
              value={draft.useCase}
              onChange={(useCase) => change({ useCase })}
              options={deployment.useCases.map((value) => ({ value, title: value }))}
              required
              fix={fix('useCase')}
            />
          </>
        )}
        {step === 2 && (
          <ChainFields
            find={findChains}
            chain={draft.chain}
            networks={draft.networks}
            onChange={(part) => {
              setFixes({})
              change(part)
            }}
            fix={fix}
          />
        )}
        {step === 3 && (
          <Choices
            legend="Services"
            kind="any"
            name="services"
            value={draft.services}
            onChange={(services) => change({ services })}
            options={deployment.services.map((value) => ({
              value,
              title: value,
              what:
                value === 'Node API'
                  ? 'JSON-RPC calls to the chain’s nodes'
                  : 'Its transactions go only to nodes that keep them private',
            }))}
            fix={fix('services')}
          />
        )}
        <div className="row spread">
          {step === 1 ? (
            <Link to="/apps" className="button plain" onClick={clearTyped}>
              Cancel
            </Link>
          ) : (
            <Button onClick={() => void router.navigate({ to: '/apps/new', search: step === 3 ? { step: 2 } : {} })}>
              Back
            </Button>
          )}
          <Button kind="primary" type="submit" busy={isPending}>
            {step === 3 ? 'Create app' : 'Next'}
          </Button>
        </div>
      </div>
    </form>
  )
}
