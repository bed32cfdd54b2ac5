import { Link } from '@tanstack/react-router'
import { Note } from '../../parts/Note.tsx'
import { FirstRequest } from '../../snippet/FirstRequest.tsx'
import { SnippetPanel } from '../../snippet/SnippetPanel.tsx'
import { useApp, useAppKey, useDeployment } from './useApp.ts'

/** An example call, and whether one has come. */
export function AppSetup() {
  const app = useApp()
  const holder = useAppKey(app)
  const deployment = useDeployment()
  const params = { appId: app.id }
  const networks = deployment?.chain.networks.filter(({ network }) => app.networks.includes(network))
  return (
    <div className="stack wide">
      <FirstRequest subject={{ appId: app.id }} />
      {app.requireJwt && (
        <Note kind="warn">
          This app takes calls only with a signed token, which the example does not send.{' '}
          <Link to="/apps/$appId/settings/jwt-keys" params={params}>
            JWT keys
          </Link>
        </Note>
      )}
      {networks?.length === 0 || app.services.length === 0 ? (
        <Note kind="warn">
          {app.services.length === 0 ? 'Its services are off' : 'It has no network'}, so its calls are refused.{' '}
          <Link to="/apps/$appId/settings/advanced" params={params}>
            Advanced configuration
          </Link>
        </Note>
      ) : (
        networks && <SnippetPanel holder={holder} kind="app" networks={networks} />
      )}
    </div>
  )
}
