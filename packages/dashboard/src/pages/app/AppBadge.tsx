import type { AppView } from '@keyrail/gateway'
import { KeyBadge } from '../../parts/KeyBadge.tsx'

/** Whether an app rejects all calls because no service or network is enabled. */
export const isOff = ({ services, networks }: Pick<AppView, 'services' | 'networks'>): boolean =>
  !services.includes('Node API') || networks.length === 0

/** Whether a list shows an app's state. Lists do not know quotas, so they never say that an app works. */
export const needsAttention = (app: AppView): boolean =>
  isOff(app) || app.key.state === 'expired' || app.key.expiresAt !== null

/** The state of an app: off, or the state of its key. */
export function AppBadge({ app, isUsedUp }: { readonly app: AppView; readonly isUsedUp?: boolean | undefined }) {
  if (!isOff(app)) return <KeyBadge state={app.key.state} expiresAt={app.key.expiresAt} isUsedUp={isUsedUp} />
  return (
    <span className="badge">
      <span className="dot" aria-hidden="true" />
      Off
    </span>
  )
}
