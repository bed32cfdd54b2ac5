import { useQuery } from '@tanstack/react-query'
import type { AppView } from '@keyrail/gateway'
import { useMemo, useState } from 'react'
import { deploymentQuery, keysQuery, networkStatusQuery, usageQuery } from '../../control/queries.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { searchNetworks } from '../../networks/searchNetworks.ts'
import type { NetworkView } from '../../networks/searchNetworks.ts'
import { toNetworkOption } from '../../networks/toNetworkOption.ts'
import { useNetworks } from '../../networks/useNetworks.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { SearchSelect } from '../../parts/SearchSelect.tsx'
import { AppNetworkCard } from './AppNetworkCard.tsx'
import { useApp, useAppKey } from './useApp.ts'
import { useAppChange } from './useAppChange.ts'

/** A card for each enabled network, with the endpoints on it, and a search for more networks. */
export function AppNetworks() {
  const app = useApp()
  const holder = useAppKey(app)
  const deployment = useQuery(deploymentQuery)
  const { data: keys } = useQuery(keysQuery)
  const { data: usage } = useQuery(usageQuery(app.id))
  const status = useQuery({ ...networkStatusQuery, refetchInterval: 15_000 })
  const [isShown, setShown] = useState(false)
  const { submit, isPending, problem } = useSubmit({
    send: (password) => holder.reveal(password),
    done: () => setShown(true),
  })
  const canShow = holder.canReveal || holder.stored !== undefined
  return (
    <div className="stack wide">
      <div className="row spread">
        <p className="soft">A URL contains the key, so it is a secret: anyone who has it can make calls.</p>
        {canShow && (
          <Button busy={isPending} onClick={() => (isShown ? setShown(false) : submit())}>
            <Icon name={isShown ? 'hide' : 'eye'} />
            {isShown ? 'Hide URLs' : 'Show URLs'}
          </Button>
        )}
      </div>
      <Problem text={problem} />
      {!canShow && <Note kind="warn">{holder.hint}</Note>}
      <Loaded query={deployment}>
        {({ networks }) => (
          <>
            {app.networks.length === 0 && (
              <Note kind="warn">No network is enabled, so all calls of this app are rejected.</Note>
            )}
            <div className="grid even">
              {app.networks.map((name) => (
                <AppNetworkCard
                  key={name}
                  app={app}
                  name={name}
                  network={networks.find(({ network }) => network === name)}
                  // After a failed poll, the last counts may be wrong.
                  nodes={
                    status.isError ? undefined : status.data?.networks.find(({ network }) => network === name)?.nodes
                  }
                  limits={usage?.networks[name]}
                  holder={holder}
                  isShown={isShown}
                  apiKeys={keys?.items.filter(({ network }) => network === name) ?? []}
                  disable={<DisableNetwork app={app} network={name} />}
                />
              ))}
            </div>
            <Needs scope="apps:write">
              <EnableNetwork app={app} networks={networks} />
            </Needs>
          </>
        )}
      </Loaded>
    </div>
  )
}

function DisableNetwork({ app, network }: { readonly app: AppView; readonly network: string }) {
  const title = useNetworks().getTitle(network)
  const change = useAppChange(app)
  const { say } = useDialogs()
  return (
    <Needs scope="apps:write">
      <ConfirmedButton
        size="little"
        label={`Disable ${title}`}
        title={`Disable ${title}?`}
        lead="Calls of this app to the network are rejected immediately. You can enable it again, with the same URL."
        action="Disable"
        send={() => change({ networks: app.networks.filter((one) => one !== network) })}
        done={() => say(`Disabled ${title}`)}
      >
        Disable
      </ConfirmedButton>
    </Needs>
  )
}

function EnableNetwork({ app, networks }: { readonly app: AppView; readonly networks: readonly NetworkView[] }) {
  const change = useAppChange(app)
  const { say } = useDialogs()
  const [chosen, setChosen] = useState<NetworkView>()
  const others = useMemo(
    () =>
      networks
        .filter(({ network }) => !app.networks.includes(network))
        // Networks of the app's own chain first.
        .toSorted((one, other) => Number(other.chain === app.chain) - Number(one.chain === app.chain)),
    [networks, app],
  )
  const search = useMemo(() => {
    const find = searchNetworks(others)
    return (text: string) => find(text).map(toNetworkOption)
  }, [others])
  const enabling = useSubmit({
    check: () => ({ networks: chosen === undefined ? 'Choose a network' : undefined }),
    send: async () => {
      if (chosen !== undefined) await change({ networks: [...app.networks, chosen.network] })
    },
    done: () => {
      setChosen(undefined)
      say(`Enabled ${chosen?.title}`)
    },
    fields: ['networks'],
  })
  if (others.length === 0) return null
  return (
    <Card title="Enable a network">
      <form className="stack" noValidate onSubmit={enabling.submit}>
        <Problem text={enabling.problem} />
        <SearchSelect
          label="Find a network"
          name="networkSearch"
          placeholder="Name, symbol or chain id"
          chosen={chosen && toNetworkOption(chosen)}
          search={search}
          onChoose={(value) => {
            enabling.clear()
            setChosen(others.find(({ network }) => network === value))
          }}
          nothing="No other network matches."
          fix={enabling.getFix('networks')}
        />
        <div className="row end">
          <Button kind="primary" type="submit" busy={enabling.isPending}>
            Enable
          </Button>
        </div>
      </form>
    </Card>
  )
}
