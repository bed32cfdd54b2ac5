import { useState } from 'react'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { networkTitles } from '../../parts/networkTitles.ts'
import { Note, Trouble } from '../../parts/Note.tsx'
import { useQuery } from '@tanstack/react-query'
import { deploymentQuery } from '../../control/queries.ts'
import { useApp, useAppKey } from './useApp.ts'

/** A card for each network, with the app's address on it. */
export function AppNetworks() {
  const app = useApp()
  const holder = useAppKey(app)
  const deployment = useQuery(deploymentQuery)
  const [isShown, setShown] = useState(false)
  const { submit, isPending, trouble } = useSubmit({
    send: (password) => holder.reveal(password),
    done: () => setShown(true),
  })
  const canShow = holder.canReveal || holder.kept !== undefined
  return (
    <div className="stack wide">
      <div className="row spread">
        <p className="soft">An address holds the key, so it is a secret: whoever has it can make calls.</p>
        {canShow && (
          <Button busy={isPending} onClick={() => (isShown ? setShown(false) : submit())}>
            <Icon name={isShown ? 'hide' : 'eye'} />
            {isShown ? 'Hide addresses' : 'Show addresses'}
          </Button>
        )}
      </div>
      <Trouble text={trouble} />
      {!canShow && (
        <Note kind="warn">
          This service keeps no copy of keys, so the addresses cannot be shown again. Rotate the key to get new ones.
        </Note>
      )}
      <Loaded query={deployment}>
        {({ chain }) => (
          <div className="grid even">
            {chain.networks.map(({ network, chainId, url }) => {
              const isOn = app.networks.includes(network)
              const addressWith = (apiKey: string): string => `${url}/v2/${apiKey}`
              return (
                <Card
                  key={network}
                  title={`${chain.name} ${networkTitles[network]}`}
                  lead={`${chain.symbol}, chain id ${chainId}`}
                  aside={
                    <span className={isOn ? 'badge good' : 'badge'}>
                      <span className="dot" aria-hidden="true" />
                      {isOn ? 'On' : 'Off'}
                    </span>
                  }
                >
                  <div className="address">
                    <code>
                      {isShown && holder.kept !== undefined ? addressWith(holder.kept) : app.key.addresses[network]}
                    </code>
                    {canShow && (
                      <CopyButton
                        what={`address on ${networkTitles[network]}`}
                        text={async (password) => addressWith(await holder.reveal(password))}
                      />
                    )}
                  </div>
                  {!isOn && <p className="hint">Calls on this network are rejected. Turn it on in Settings.</p>}
                </Card>
              )
            })}
          </div>
        )}
      </Loaded>
    </div>
  )
}
