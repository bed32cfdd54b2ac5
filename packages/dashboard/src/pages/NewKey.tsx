import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import type { DeploymentView } from '@keyrail/gateway'
import { useMemo } from 'react'
import { callApi } from '../control/callApi.ts'
import { deploymentQuery, keyQuery, keysQuery } from '../control/queries.ts'
import { useFocus } from '../control/useFocus.ts'
import { useNewKey } from '../control/useNewKey.ts'
import { useStored } from '../control/useStored.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { searchNetworks } from '../networks/searchNetworks.ts'
import { toNetworkOption } from '../networks/toNetworkOption.ts'
import { Button } from '../parts/Button.tsx'
import { DescriptionField } from '../parts/DescriptionField.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Fold } from '../parts/Fold.tsx'
import { Loaded } from '../parts/Loaded.tsx'
import { Problem } from '../parts/Note.tsx'
import { Needs, NotAllowed } from '../parts/Needs.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { SearchSelect } from '../parts/SearchSelect.tsx'
import { TextField } from '../parts/TextField.tsx'

/** Creates an API key, if there is a free slot. */
export function NewKey() {
  const keys = useQuery(keysQuery)
  const deployment = useQuery(deploymentQuery)
  return (
    <div className="page narrow">
      <PageHead
        title="Create API key"
        crumb={<Link to="/keys">Keys</Link>}
        lead={
          keys.data && keys.data.items.length < keys.data.max
            ? `This will be number ${keys.data.items.length + 1} of ${keys.data.max}.`
            : undefined
        }
      />
      <Loaded query={keys}>
        {({ items, max }) =>
          items.length >= max ? (
            <Empty
              title={`You have ${items.length} of ${max} API keys`}
              action={
                <Link to="/keys" className="button">
                  To your keys
                </Link>
              }
            >
              <p>Revoke one to make room for another.</p>
            </Empty>
          ) : (
            <Needs scope="keys:write" otherwise={<NotAllowed />}>
              <Loaded query={deployment}>{({ networks }) => <Form networks={networks} />}</Loaded>
            </Needs>
          )
        }
      </Loaded>
    </div>
  )
}

function Form({ networks }: Pick<DeploymentView, 'networks'>) {
  const router = useRouter()
  const queries = useQueryClient()
  const takeNewKey = useNewKey()
  const [typed, setTyped, clear] = useStored<{
    readonly name: string
    readonly network: string | undefined
    readonly description: string
  }>('new-key', { name: '', network: networks.length === 1 ? networks[0]?.network : undefined, description: '' })
  const { name, description } = typed
  const network = networks.find((one) => one.network === typed.network)
  const search = useMemo(() => {
    const find = searchNetworks(networks)
    return (text: string) => find(text).map(toNetworkOption)
  }, [networks])
  const nameField = useFocus()
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({
      name: name.trim() === '' ? 'Enter a name' : undefined,
      network: network === undefined ? 'Choose a network' : undefined,
    }),
    send: () =>
      callApi('POST /api/keys', {
        body: {
          name: name.trim(),
          network: network?.network ?? '',
          ...(description.trim() && { description: description.trim() }),
        },
      }),
    done: async ({ key, apiKey }) => {
      await takeNewKey({ id: key.id, apiKey, revealable: key.revealable })
      queries.setQueryData(keyQuery(key.id).queryKey, key)
      await router.navigate({ to: '/keys/$keyId/setup', params: { keyId: key.id }, replace: true })
      clear()
      await queries.invalidateQueries({ queryKey: ['keys'] })
    },
    fields: ['name', 'network', 'description'],
  })
  return (
    <form className="card" noValidate onSubmit={submit} aria-label="Create API key">
      <div className="card-body">
        <Problem text={problem} />
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={(value) => setTyped({ ...typed, name: value })}
          required
          most={64}
          inputRef={nameField}
          fix={getFix('name')}
        />
        <SearchSelect
          label="Network"
          name="network"
          placeholder="Name, symbol or chain id"
          chosen={network && toNetworkOption(network)}
          search={search}
          onChoose={(value) => setTyped({ ...typed, network: value })}
          nothing="No network of this service matches."
          hint={
            network === undefined
              ? 'You cannot change it later.'
              : `${network.network}, ${network.symbol}, chain id ${network.chainId}. You cannot change it later.`
          }
          fix={getFix('network')}
        />
        <Fold title="Description" hasProblem={getFix('description') !== undefined}>
          <DescriptionField
            value={description}
            onChange={(value) => setTyped({ ...typed, description: value })}
            fix={getFix('description')}
          />
        </Fold>
        <div className="row spread">
          <Link to="/keys" className="button plain" onClick={clear}>
            Cancel
          </Link>
          <Button kind="primary" type="submit" busy={isPending}>
            Create
          </Button>
        </div>
      </div>
    </form>
  )
}
