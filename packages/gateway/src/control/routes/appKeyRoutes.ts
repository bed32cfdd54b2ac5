import type { Key } from '../../storage/keys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { toAppUrls } from '../views/toAppView.ts'
import { revealKey } from './revealKey.ts'
import { dropOldKey, rotateKey } from './rotateKey.ts'
import { showApp } from './showApp.ts'
import { confirmBody } from '../contract/account.ts'
import { appSecret, appView, keyExpiryBody, newAppView } from '../contract/app.ts'
import { rotateBody } from '../contract/keyState.ts'
import { requireAccountId, route } from '../route.ts'
import type { Caller, ControlParts, Route } from '../route.ts'

const findKey = ({ storage }: ControlParts, caller: Caller, appId: string): Promise<Key | undefined> =>
  storage.keys.findByApp({ appId, userId: requireAccountId(caller) })

/** The routes of apps' keys. */
export const appKeyRoutes: readonly Route[] = [
  route(
    'PUT /api/apps/{appId}/key/expiry',
    { summary: "Sets when an app's key expires.", access: 'apps:write', body: keyExpiryBody, response: appView },
    async ({ params, body, caller }, parts) => {
      const { now } = parts
      const { appId } = params
      const { version, expiresAt } = body
      const expiry = readExpiry(expiresAt, now())
      if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
      const key = await findKey(parts, caller, appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await changeWithAudit(
        parts,
        caller,
        ({ keys }) =>
          keys.edit({
            id,
            userId,
            ...(version !== undefined && { appVersion: version }),
            settings: { expiresAt: expiry.at },
          }),
        () => ({ action: 'key.edit', subject: id, detail: { expiresAt }, forget: { kind: 'app', id: appId } }),
      )
      if (changed === 'versionMoved') return { error: apiErrors.versionConflict() }
      return typeof changed === 'string' ? { error: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },
  ),

  route(
    'POST /api/apps/{appId}/key/reveal',
    {
      summary: "Reveals an app's key and endpoints.",
      access: 'reveal',
      confirms: true,
      body: confirmBody,
      response: appSecret,
    },
    async ({ params, caller }, parts) => {
      const { storage, deployment } = parts
      const key = await findKey(parts, caller, params.appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const revealed = await revealKey(parts, caller, key.id)
      if ('error' in revealed) return revealed
      const app = await storage.apps.find({ id: params.appId, userId: key.userId })
      if (app === undefined) return { error: apiErrors.notFound() }
      const { apiKey } = revealed
      return { response: { apiKey, urls: toAppUrls(deployment().publicUrl, app, apiKey) } }
    },
  ),

  route(
    'POST /api/apps/{appId}/key/rotate',
    {
      summary: "Rotates an app's key. The old key keeps working for the given grace period.",
      access: 'apps:write',
      body: rotateBody,
      response: newAppView,
    },
    async ({ params, body, caller }, parts) => {
      const { deployment } = parts
      const key = await findKey(parts, caller, params.appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('error' in rotated) return rotated
      const { apiKey } = rotated
      const app = await showApp(parts, caller, { id: params.appId })
      if ('error' in app) return app
      const urls = toAppUrls(deployment().publicUrl, app.response, apiKey)
      return { response: { app: app.response, apiKey, urls } }
    },
  ),

  route(
    'DELETE /api/apps/{appId}/key/old',
    {
      summary: "Ends the grace period of an app's old key.",
      access: 'apps:write',
      response: appView,
    },
    async ({ params, caller }, parts) => {
      const { appId } = params
      const key = await findKey(parts, caller, appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const changed = await dropOldKey(parts, caller, key)
      return typeof changed === 'string' ? { error: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },
  ),
]
