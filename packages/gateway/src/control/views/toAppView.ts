import { getAppUrl } from '../../proxy/http/rpcUrls.ts'
import { defaultLifetimeS } from '../../auth/jwt/jwtPolicy.ts'
import { narrowLimits } from '../../auth/key/keyLimits.ts'
import type { Network } from '../../lib/network.ts'
import type { App } from '../../storage/apps.ts'
import type { Key } from '../../storage/keys.ts'
import type { AppView } from '../contract/app.ts'
import type { ServiceName, UseCase } from '../contract/deployment.ts'
import type { LimitsView, OwnLimits } from '../contract/limits.ts'
import { toKeyFacts } from './toKeyFacts.ts'
import { isoTime } from './times.ts'

/** An app's addresses. With a key they are secrets. */
export const appAddressesOf = (publicUrl: string, apiKey: string): Readonly<Record<Network, string>> => ({
  testnet: getAppUrl(publicUrl, 'testnet', apiKey),
  mainnet: getAppUrl(publicUrl, 'mainnet', apiKey),
})

/** What an app is shown with. */
export interface AppSurroundings {
  readonly publicUrl: string
  /** What the account's apps may use where they have no limits of their own. */
  readonly limits: LimitsView
  readonly now: number
}

/** An app as the API shows it. */
export const toAppView = (app: App, key: Key, { publicUrl, limits, now }: AppSurroundings): AppView => ({
  id: app.id,
  name: app.name,
  description: app.description,
  // What was stored was checked when it was given.
  useCase: app.useCase as UseCase,
  chain: app.chain,
  services: app.services as readonly ServiceName[],
  networks: app.networks,
  requireJwt: app.requireJwt,
  jwt: { audience: app.jwtAudience, maxLifetimeS: app.jwtMaxLifetimeS ?? defaultLifetimeS },
  ownLimits: app.limits as OwnLimits | null,
  limits: narrowLimits(app.limits, limits),
  key: { id: key.id, ...toKeyFacts(key, now), addresses: appAddressesOf(publicUrl, `…${key.ending}`) },
  version: app.version,
  createdAt: isoTime(app.createdAt),
})
