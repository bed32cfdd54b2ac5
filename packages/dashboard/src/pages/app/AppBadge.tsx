import type { AppView } from '@keyrail/gateway'
import { KeyBadge } from '../../parts/KeyBadge.tsx'

/** Whether all calls of an app are rejected, as nothing of it is on. */
export const isOff = ({ services, networks }: Pick<AppView, 'services' | 'networks'>): boolean =>
  services.length === 0 || networks.length === 0

/** How an app stands: off, or as its key does. */
export function AppBadge({ app }: { readonly app: AppView }) {
  if (!isOff(app)) return <KeyBadge state={app.key.state} expiresAt={app.key.expiresAt} />
  return (
    <span className="badge">
      <span className="dot" aria-hidden="true" />
      Off
    </span>
  )
}
