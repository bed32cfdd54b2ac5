import { resolveLimits } from '../../auth/key/keyLimits.ts'
import type { App } from '../../storage/apps.ts'
import type { AppView } from '../contract/app.ts'
import type { LimitsView } from '../contract/limits.ts'
import type { ApiError } from '../reply.ts'
import { apiErrors } from '../apiErrors.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts } from '../handler.ts'
import type { AppSurroundings } from '../views/toAppView.ts'
import { toAppView } from '../views/toAppView.ts'

/** What apps of an account may use where they have no limits of their own. */
export const appLimitsOf = (config: ControlParts['config'], caller: Caller): LimitsView =>
  resolveLimits([viewerOf(caller).user.limits], config().limits.app)

/** What an account's apps are shown with. */
export const appSurroundings = (
  { config, deployment, now }: Pick<ControlParts, 'config' | 'deployment' | 'now'>,
  caller: Caller,
): AppSurroundings => ({ publicUrl: deployment().publicUrl, limits: appLimitsOf(config, caller), now: now() })

/** An app with its key, as the API shows it; or the rejection where the caller has none such. */
export const showApp = async (
  parts: Pick<ControlParts, 'storage' | 'config' | 'deployment' | 'now'>,
  caller: Caller,
  found: { readonly id: string } | { readonly app: App },
): Promise<{ answer: AppView } | { rejection: ApiError }> => {
  const { apps, keys } = parts.storage
  const userId = viewerOf(caller).user.id
  const app = 'app' in found ? found.app : await apps.find({ id: found.id, userId })
  const key = app === undefined ? undefined : await keys.findByApp({ appId: app.id, userId })
  return app === undefined || key === undefined
    ? { rejection: apiErrors.notFound() }
    : { answer: toAppView(app, key, appSurroundings(parts, caller)) }
}
