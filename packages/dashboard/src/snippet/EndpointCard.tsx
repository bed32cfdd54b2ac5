import { snippet } from '@keyrail/snippets'
import { useState } from 'react'
import type { KeySubject } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { AddToWallet } from '../networks/AddToWallet.tsx'
import { NetworkName } from '../networks/NetworkName.tsx'
import type { NetworkView } from '../networks/searchNetworks.ts'
import { toWebSocketUrl } from '../networks/toWebSocketUrl.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Problem } from '../parts/Note.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { getAddress, getUrl } from './endpointUrls.ts'
import { canShowKey } from './useKeyHolder.ts'
import type { KeyHolder } from './useKeyHolder.ts'

/** A network's title, with its name if another network has the same title. */
const getUniqueTitle = ({ title, network }: NetworkView, networks: readonly NetworkView[]): string =>
  networks.some((other) => other.title === title && other.network !== network) ? `${title} (${network})` : title

/** The URLs of a key on a network, and the `.env` file that programs read them from. The key is masked until the user reveals it. */
export function EndpointCard(props: {
  readonly holder: KeyHolder
  readonly subject: KeySubject
  readonly networks: readonly NetworkView[]
  /** The chosen network. */
  readonly network: NetworkView
  readonly onChoose: (network: string) => void
}) {
  const { holder, subject, networks, network } = props
  const [isShown, setShown] = useState(false)
  const reveal = useSubmit({ send: (password) => holder.reveal(password), done: () => setShown(true) })
  const canShow = canShowKey(holder)
  const shownKey = isShown && holder.stored !== undefined ? holder.stored : holder.masked
  const shownUrl = getUrl(subject, network, shownKey)
  const revealUrl = async (password: string | undefined): Promise<string> =>
    getUrl(subject, network, await holder.reveal(password))
  const envWith = (apiKey: string): string =>
    snippet({ address: getAddress(subject, network) })
      .environment.map(({ name, value = apiKey }) => `${name}=${value}\n`)
      .join('')
  return (
    <Card
      title="Endpoint"
      lead={
        <>
          <NetworkName title={network.title} network={network.network} />, {network.symbol}, chain id {network.chainId}.
          For HTTP and WebSocket. The URLs contain the key, so they are secrets.
        </>
      }
      aside={
        canShow && (
          <Button size="little" busy={reveal.isPending} onClick={() => (isShown ? setShown(false) : reveal.submit())}>
            <Icon name={isShown ? 'hide' : 'eye'} />
            {isShown ? 'Hide key' : 'Show key'}
          </Button>
        )
      }
    >
      <Problem text={reveal.problem} />
      {networks.length > 1 && (
        <div className="selects">
          <SelectField
            label="Network"
            name="network"
            value={network.network}
            onChange={props.onChoose}
            options={networks.map((one) => ({ value: one.network, title: getUniqueTitle(one, networks) }))}
          />
        </div>
      )}
      <div className="address">
        <code>{shownUrl}</code>
        {canShow && <CopyButton what={`URL on ${network.title}`} kind="primary" text={revealUrl} />}
      </div>
      <div className="address">
        <code>{toWebSocketUrl(shownUrl)}</code>
        {canShow && (
          <CopyButton
            what={`WebSocket URL on ${network.title}`}
            text={async (password) => toWebSocketUrl(await revealUrl(password))}
          />
        )}
      </div>
      <figure className="code" aria-label="Environment variables">
        <div className="code-bar">
          <code>.env</code>
          <CopyButton
            what="the .env file"
            text={async (password) => envWith(canShow ? await holder.reveal(password) : '')}
          />
        </div>
        <pre tabIndex={0} role="region" aria-label="The .env file">
          <code>{envWith(shownKey)}</code>
        </pre>
      </figure>
      {!canShow && <p className="hint">{holder.hint}</p>}
      {canShow && (
        <div className="row end">
          <AddToWallet network={network} getUrl={revealUrl} />
        </div>
      )}
    </Card>
  )
}
