import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { deploymentQuery, keyQuery, keysQuery } from '../control/queries.ts'
import { keepKey } from '../control/shownKeys.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { Choices } from '../parts/Choices.tsx'
import { Empty } from '../parts/Empty.tsx'
import { Loaded } from '../parts/Loaded.tsx'
import { networkTitles } from '../parts/networkTitles.ts'
import { Trouble } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { TextField } from '../parts/TextField.tsx'

type Network = keyof typeof networkTitles

/** Makes an API key, where there is a place for one. */
export function NewKey() {
  const keys = useQuery(keysQuery)
  return (
    <div className="page narrow">
      <PageHead
        title="Create API key"
        crumb={<Link to="/keys">API keys</Link>}
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
                  To your API keys
                </Link>
              }
            >
              <p>Revoke one to make room for another.</p>
            </Empty>
          ) : (
            <Form />
          )
        }
      </Loaded>
    </div>
  )
}

function Form() {
  const router = useRouter()
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  const [name, setName] = useState('')
  const [network, setNetwork] = useState<Network | ''>('')
  const [description, setDescription] = useState('')
  const { submit, isPending, trouble, fixOf } = useSubmit({
    check: () => ({
      name: name.trim() === '' ? 'Give it a name' : undefined,
      network: network === '' ? 'Choose a network' : undefined,
    }),
    send: () =>
      callApi('POST /api/keys', {
        body: {
          name: name.trim(),
          network: network as Network,
          ...(description.trim() && { description: description.trim() }),
        },
      }),
    done: async ({ key, apiKey }) => {
      keepKey(key.id, apiKey)
      queries.setQueryData(keyQuery(key.id).queryKey, key)
      await router.navigate({ to: '/keys/$keyId/setup', params: { keyId: key.id }, replace: true })
      await queries.invalidateQueries({ queryKey: ['keys'] })
    },
    fields: ['name', 'network', 'description'],
  })
  return (
    <form className="card" noValidate onSubmit={submit} aria-label="Create API key">
      <div className="card-body">
        <Trouble text={trouble} />
        <TextField label="Name" name="name" value={name} onChange={setName} required most={64} fix={fixOf('name')} />
        <Choices
          legend="Network"
          kind="one"
          name="network"
          value={network === '' ? [] : [network]}
          onChange={([value]) => setNetwork(value ?? '')}
          options={(['testnet', 'mainnet'] as const).map((value) => {
            const found = deployment?.chain.networks.find((one) => one.network === value)
            return {
              value,
              title: networkTitles[value],
              what: found && `${deployment?.chain.symbol}, chain id ${found.chainId}`,
            }
          })}
          hint="It cannot be changed later."
          fix={fixOf('network')}
        />
        <TextField
          label="Description"
          name="description"
          lines
          optional
          value={description}
          onChange={setDescription}
          most={500}
          fix={fixOf('description')}
        />
        <div className="row spread">
          <Link to="/keys" className="button plain">
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
