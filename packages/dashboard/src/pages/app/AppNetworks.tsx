import { useQuery } from '@tanstack/react-query'
import type { AppView, DeploymentView } from '@keyrail/gateway'
import { useMemo, useState } from 'react'
import { deploymentQuery, keysQuery, networkStatusQuery, usageQuery } from '../../control/queries.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { NetworksField } from '../../networks/NetworksField.tsx'
import { useNetworks } from '../../networks/useNetworks.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
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
        {(data) => (
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
                  network={data.networks.find(({ network }) => network === name)}
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
              <EnableNetworks app={app} deployment={data} />
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

function EnableNetworks({ app, deployment }: { readonly app: AppView; readonly deployment: DeploymentView }) {
  const change = useAppChange(app)
  const { say } = useDialogs()
  const { getTitle } = useNetworks()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const offered = useMemo(() => {
    const own = new Set(
      deployment.networks.filter(({ network }) => app.networks.includes(network)).map(({ chain }) => chain),
    )
    return {
      networks: deployment.networks.filter(({ network }) => !app.networks.includes(network)),
      // The chains that the app uses come first.
      chains: deployment.chains.toSorted((one, other) => Number(own.has(other.chain)) - Number(own.has(one.chain))),
    }
  }, [deployment, app])
  const enabling = useSubmit({
    check: () => ({ networks: chosen.length === 0 ? 'Choose a network' : undefined }),
    send: () => change({ networks: [...app.networks, ...chosen] }),
    done: () => {
      setChosen([])
      say(`Enabled ${chosen.map(getTitle).join(', ')}`)
    },
    fields: ['networks'],
  })
  if (offered.networks.length === 0) return null
  return (
    <Card title="Enable networks">
      <form className="stack" noValidate onSubmit={enabling.submit}>
        <Problem text={enabling.problem} />
        <NetworksField
          label="Find a network"
          offered={offered}
          value={chosen}
          onChange={(networks) => {
            enabling.clear()
            setChosen(networks)
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
