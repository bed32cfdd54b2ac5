import { getAppUrl } from '../../proxy/http/rpcUrls.ts'
import { defaultLifetimeS } from '../../auth/jwt/jwtPolicy.ts'
import { narrowLimits } from '../../auth/key/keyLimits.ts'
import type { Network } from '../../lib/network.ts'
import type { App } from '../../storage/apps.ts'
import type { Key } from '../../storage/keys.ts'
import type { AppView, LimitsView, OwnLimits, ServiceName, UseCase } from '../contract/controlApi.d.ts'
import { toKeyDetails } from './toKeyDetails.ts'
import { createView } from './createView.ts'
import { appView } from '../contract/app.ts'

/** Gets an app's endpoints by network, which are secrets if they contain the full key. */
export const toAppUrls = (
  publicUrl: string,
  { networks }: Pick<App, 'networks'>,
  apiKey: string,
): Readonly<Record<Network, string>> =>
  Object.fromEntries(networks.map((network) => [network, getAppUrl(publicUrl, network, apiKey)]))

/** Everything besides the app and its key that an `AppView` needs. */
export interface AppViewContext {
  readonly publicUrl: string
  /** The limits of the account's apps that have no limits of their own. */
  readonly limits: LimitsView
  readonly now: number
}

const toView = createView(appView)

/** Converts a stored app to its API form. */
export const toAppView = (app: App, key: Key, { publicUrl, limits, now }: AppViewContext): AppView => ({
  ...toView(app),
  // Validated when it was stored.
  useCase: app.useCase as UseCase,
  services: app.services as readonly ServiceName[],
  jwt: { audience: app.jwtAudience, maxLifetimeS: app.jwtMaxLifetimeS ?? defaultLifetimeS },
  ownLimits: app.limits as OwnLimits | null,
  limits: narrowLimits(app.limits, limits),
  key: { id: key.id, ...toKeyDetails(key, now), urls: toAppUrls(publicUrl, app, `…${key.ending}`) },
})
