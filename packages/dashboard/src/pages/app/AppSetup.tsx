import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deploymentQuery } from '../../control/queries.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note } from '../../parts/Note.tsx'
import { CallSetup } from '../../snippet/CallSetup.tsx'
import { FirstRequest } from '../../snippet/FirstRequest.tsx'
import { isOff } from './AppBadge.tsx'
import { AppChecklist } from './AppChecklist.tsx'
import { useApp, useAppKey } from './useApp.ts'

/** The endpoint, an example call, and whether the first one has arrived. */
export function AppSetup() {
  const app = useApp()
  const holder = useAppKey(app)
  const deployment = useQuery(deploymentQuery)
  const params = { appId: app.id }
  return (
    <div className="stack wide">
      <FirstRequest subject={{ appId: app.id }} />
      {app.requireJwt && (
        <Note kind="warn">
          This app takes calls only with a signed token, which the program does not send.{' '}
          <Link to="/apps/$appId/settings/jwt-keys" params={params}>
            JWT keys
          </Link>
        </Note>
      )}
      {isOff(app) ? (
        <>
          <Note kind="warn">
            {!app.services.includes('Node API') ? (
              <>
                Its service Node API is off, so its calls are rejected.{' '}
                <Link to="/apps/$appId/settings/advanced" params={params}>
                  Advanced configuration
                </Link>
              </>
            ) : (
              <>
                No network is enabled, so its calls are rejected.{' '}
                <Link to="/apps/$appId/networks" params={params}>
                  Enable networks
                </Link>
              </>
            )}
          </Note>
          <AppChecklist app={app} />
        </>
      ) : (
        <Loaded query={deployment}>
          {({ networks }) => (
            <CallSetup
              holder={holder}
              subject={params}
              requireJwt={app.requireJwt}
              networks={networks.filter(({ network }) => app.networks.includes(network))}
              beside={<AppChecklist app={app} />}
            />
          )}
        </Loaded>
      )}
    </div>
  )
}
