import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { deploymentQuery, usageQuery } from '../../control/queries.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { AddToWallet } from '../../networks/AddToWallet.tsx'
import { NetworkName } from '../../networks/NetworkName.tsx'
import { toWebSocketUrl } from '../../networks/toWebSocketUrl.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { UsageMeter } from '../../parts/UsageMeter.tsx'
import { WeightsHint } from '../../parts/WeightsHint.tsx'
import { FirstRequest } from '../../snippet/FirstRequest.tsx'
import { SnippetPanel } from '../../snippet/SnippetPanel.tsx'
import { useKey, useKeyText } from './useKey.ts'

/** An API key's URL, an example call, and today's usage. */
export function KeySetup() {
  const key = useKey()
  const holder = useKeyText(key)
  const deployment = useQuery(deploymentQuery)
  const usage = useQuery({ ...usageQuery(), refetchInterval: 5_000 })
  const [isShown, setShown] = useState(false)
  const { submit, isPending, problem } = useSubmit({
    send: (password) => holder.reveal(password),
    done: () => setShown(true),
  })
  const canShow = holder.canReveal || holder.stored !== undefined
  if (key.state === 'revoked') {
    return (
      <Empty title="This API key is revoked" action={<Link to="/keys">To your API keys</Link>}>
        <p>Calls with it are rejected. Its metrics are still here.</p>
      </Empty>
    )
  }
  return (
    <div className="stack wide">
      <FirstRequest subject={{ keyId: key.id }} />
      <Loaded query={deployment}>
        {({ networks }) => {
          const network = networks.find((one) => one.network === key.network)
          if (network === undefined) {
            return (
              <Note kind="warn">
                This service does not have the network {key.network} any more. Calls with this key are rejected.
              </Note>
            )
          }
          const { title, url, symbol, chainId } = network
          const urlWith = (apiKey: string): string => `${url}/${apiKey}`
          const revealUrl = async (password: string | undefined): Promise<string> =>
            urlWith(await holder.reveal(password))
          const shownUrl = isShown && holder.stored !== undefined ? urlWith(holder.stored) : key.url
          return (
            <>
              <Card
                title="URLs"
                lead={
                  <>
                    <NetworkName title={title} network={key.network} />, {symbol}, chain id {chainId}. For HTTP and
                    WebSocket. They contain the key, so they are secrets.
                  </>
                }
                aside={
                  canShow && (
                    <Button size="little" busy={isPending} onClick={() => (isShown ? setShown(false) : submit())}>
                      <Icon name={isShown ? 'hide' : 'eye'} />
                      {isShown ? 'Hide URLs' : 'Show URLs'}
                    </Button>
                  )
                }
              >
                <Problem text={problem} />
                <div className="address">
                  <code>{shownUrl}</code>
                  {canShow && <CopyButton what={`URL on ${title}`} text={revealUrl} />}
                </div>
                <div className="address">
                  <code>{toWebSocketUrl(shownUrl)}</code>
                  {canShow && (
                    <CopyButton
                      what={`WebSocket URL on ${title}`}
                      text={async (password) => toWebSocketUrl(await revealUrl(password))}
                    />
                  )}
                </div>
                {canShow && (
                  <div className="row end">
                    <AddToWallet network={network} getUrl={revealUrl} />
                  </div>
                )}
              </Card>
              <SnippetPanel holder={holder} subject={{ keyId: key.id }} networks={[network]} />
            </>
          )
        }}
      </Loaded>
      <Loaded query={usage}>
        {({ day, weights, networks }) => (
          <Card title="Usage today" lead="All your API keys together. Rejected calls do not count.">
            <UsageMeter period="day" usage={day} />
            <WeightsHint weights={networks[key.network]?.weights ?? weights} />
          </Card>
        )}
      </Loaded>
    </div>
  )
}
