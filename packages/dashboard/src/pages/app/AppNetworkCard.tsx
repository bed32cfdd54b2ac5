import { Link } from '@tanstack/react-router'
import type { ApiKeyView, AppView, NodeCounts, UsageView } from '@keyrail/gateway'
import type { ReactNode } from 'react'
import { AddToWallet } from '../../networks/AddToWallet.tsx'
import { NetworkStatus } from '../../networks/NetworkStatus.tsx'
import type { NetworkView } from '../../networks/searchNetworks.ts'
import { toWebSocketUrl } from '../../networks/toWebSocketUrl.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Note } from '../../parts/Note.tsx'
import { limitText } from '../../parts/times.ts'
import { WeightsHint } from '../../parts/WeightsHint.tsx'
import type { KeyHolder } from '../../snippet/useKeyHolder.ts'

/** A network of an app: the status of its nodes, its URLs, its chain id and its explorer. */
export function AppNetworkCard(props: {
  readonly app: AppView
  readonly name: string
  /** `undefined` if the service does not have the network any more. */
  readonly network: NetworkView | undefined
  /** The health of its nodes; `undefined` if it is unknown. */
  readonly nodes: NodeCounts | undefined
  /** The app's rate and the weights on this network; `undefined` if it has no limits of its own. */
  readonly limits: UsageView['networks'][string] | undefined
  readonly holder: KeyHolder
  /** Whether the key is shown. */
  readonly isShown: boolean
  /** The account's API keys on this network. */
  readonly apiKeys: readonly ApiKeyView[]
  /** The button that disables the network. */
  readonly disable: ReactNode
}) {
  const { app, name, network, nodes, limits, holder, isShown, apiKeys, disable } = props
  if (network === undefined) {
    return (
      <Card title={name} aside={disable}>
        <Note kind="warn">This service no longer has this network. Calls to it are rejected.</Note>
      </Card>
    )
  }
  const { title, url, explorerUrl } = network
  const canShow = holder.canReveal || holder.stored !== undefined
  const urlWith = (apiKey: string): string => `${url}/v2/${apiKey}`
  const reveal = async (password: string | undefined): Promise<string> => urlWith(await holder.reveal(password))
  return (
    <Card
      title={title}
      lead={<code>{name}</code>}
      aside={<span className="badge">{network.testnet ? 'Testnet' : 'Mainnet'}</span>}
    >
      <NetworkStatus nodes={nodes} />
      <dl className="facts">
        <div>
          <dt>Chain id</dt>
          <dd>{network.chainId}</dd>
        </div>
        <div>
          <dt>Symbol</dt>
          <dd>{network.symbol}</dd>
        </div>
        {explorerUrl !== null && (
          <div>
            <dt>Explorer</dt>
            <dd>
              <a href={explorerUrl} target="_blank" rel="noreferrer">
                {new URL(explorerUrl).host}
              </a>
            </dd>
          </div>
        )}
        {limits !== undefined && (
          <div>
            <dt>Requests a second</dt>
            <dd>{limitText(limits.perSecond)}</dd>
          </div>
        )}
      </dl>
      {limits !== undefined && <WeightsHint weights={limits.weights} />}
      <div className="stack tight">
        <p className="small soft">URLs of this app, for HTTP and WebSocket</p>
        <div className="address">
          <code>{isShown && holder.stored !== undefined ? urlWith(holder.stored) : app.key.urls[name]}</code>
          {canShow && <CopyButton what={`URL on ${title}`} text={reveal} />}
        </div>
        <div className="address">
          <code>
            {toWebSocketUrl(
              isShown && holder.stored !== undefined ? urlWith(holder.stored) : (app.key.urls[name] ?? ''),
            )}
          </code>
          {canShow && (
            <CopyButton
              what={`WebSocket URL on ${title}`}
              text={async (password) => toWebSocketUrl(await reveal(password))}
            />
          )}
        </div>
      </div>
      {apiKeys.length > 0 && (
        <div className="stack tight">
          <p className="small soft">URLs of your API keys</p>
          {apiKeys.map((key) => (
            <div key={key.id} className="address">
              <code>{key.url}</code>
              <Link to="/keys/$keyId/setup" params={{ keyId: key.id }}>
                {key.name}
              </Link>
            </div>
          ))}
        </div>
      )}
      <div className="row end">
        {canShow && <AddToWallet network={network} getUrl={reveal} />}
        {disable}
      </div>
    </Card>
  )
}
