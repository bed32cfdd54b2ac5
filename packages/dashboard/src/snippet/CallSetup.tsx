import { useState } from 'react'
import type { ReactNode } from 'react'
import type { KeySubject } from '../control/queries.ts'
import type { NetworkView } from '../networks/searchNetworks.ts'
import { EndpointCard } from './EndpointCard.tsx'
import { SnippetPanel } from './SnippetPanel.tsx'
import type { KeyHolder } from './useKeyHolder.ts'

/** All that a first call needs: the endpoint, and a program that calls it. */
export function CallSetup(props: {
  readonly holder: KeyHolder
  /** Whether the key is an app's or an API key: their URLs differ. */
  readonly subject: KeySubject
  readonly networks: readonly NetworkView[]
  /** Whether calls need a JWT. @default false */
  readonly requireJwt?: boolean
  /** What is beside the program. */
  readonly beside?: ReactNode
}) {
  const { holder, subject, networks, requireJwt = false, beside } = props
  const [chosen, setChosen] = useState<string>()
  const network = networks.find((one) => one.network === chosen) ?? networks[0]
  if (network === undefined) return beside
  return (
    <>
      <EndpointCard holder={holder} subject={subject} networks={networks} network={network} onChoose={setChosen} />
      <div className="beside">
        {beside}
        <SnippetPanel holder={holder} subject={subject} network={network} requireJwt={requireJwt} />
      </div>
    </>
  )
}
