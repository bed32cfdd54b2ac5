import { resolveLimits } from '../../auth/key/keyLimits.ts'
import type { App } from '../../storage/apps.ts'
import type { ApiError } from '../apiErrors.ts'
import { apiErrors } from '../apiErrors.ts'
import { requireAccount, requireAccountId } from '../route.ts'
import type { Caller, ControlParts } from '../route.ts'
import type { AppViewContext } from '../views/toAppView.ts'
import { toAppView } from '../views/toAppView.ts'
import type { AppView, LimitsView } from '../contract/controlApi.d.ts'

/** The limits of an account's apps that have no limits of their own. */
export const getAppLimits = (config: ControlParts['config'], caller: Caller): LimitsView =>
  resolveLimits([requireAccount(caller).limits], config().limits.app)

/** Everything besides the app and its key that an `AppView` needs. */
export const toAppViewContext = (
  { config, deployment, now }: Pick<ControlParts, 'config' | 'deployment' | 'now'>,
  caller: Caller,
): AppViewContext => ({ publicUrl: deployment().publicUrl, limits: getAppLimits(config, caller), now: now() })

/** Shows an app with its key, or an error if the caller has no such app. */
export const showApp = async (
  parts: Pick<ControlParts, 'storage' | 'config' | 'deployment' | 'now'>,
  caller: Caller,
  found: { readonly id: string } | { readonly app: App },
): Promise<{ response: AppView } | { error: ApiError }> => {
  const { apps, keys } = parts.storage
  const userId = requireAccountId(caller)
  const app = 'app' in found ? found.app : await apps.find({ id: found.id, userId })
  const key = app === undefined ? undefined : await keys.findByApp({ appId: app.id, userId })
  return app === undefined || key === undefined
    ? { error: apiErrors.notFound() }
    : { response: toAppView(app, key, toAppViewContext(parts, caller)) }
}
