import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deploymentQuery, usageQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note } from '../../parts/Note.tsx'
import { UsageMeter } from '../../parts/UsageMeter.tsx'
import { WeightsHint } from '../../parts/WeightsHint.tsx'
import { CallSetup } from '../../snippet/CallSetup.tsx'
import { FirstRequest } from '../../snippet/FirstRequest.tsx'
import { useKey, useKeyText } from './useKey.ts'

/** An API key's endpoint, an example call, and today's usage. */
export function KeySetup() {
  const key = useKey()
  const holder = useKeyText(key)
  const deployment = useQuery(deploymentQuery)
  const usage = useQuery({ ...usageQuery(), refetchInterval: 5_000 })
  if (key.state === 'revoked') {
    return (
      <Empty title="This API key is revoked" action={<Link to="/keys">To your keys</Link>}>
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
          return <CallSetup holder={holder} subject={{ keyId: key.id }} networks={[network]} />
        }}
      </Loaded>
      <Loaded query={usage}>
        {({ day, weights, networks }) => (
          <Card
            title="Daily limit of API keys"
            lead="All API keys together, not only this one. Apps have limits of their own. Rejected calls do not count."
          >
            <UsageMeter of="All API keys" period="day" usage={day} />
            <WeightsHint weights={networks[key.network]?.weights ?? weights} />
          </Card>
        )}
      </Loaded>
    </div>
  )
}
