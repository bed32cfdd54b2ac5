import type { Key } from '../../storage/keys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import { toAppUrls } from '../views/toAppView.ts'
import { revealKey } from './revealKey.ts'
import { rotateKey } from './rotateKey.ts'
import { showApp } from './showApp.ts'

/** The routes of apps' keys. */
export const appKeyHandlers = (
  parts: ControlParts,
): Handlers<
  | 'PUT /api/apps/{appId}/key/expiry'
  | 'POST /api/apps/{appId}/key/reveal'
  | 'POST /api/apps/{appId}/key/rotate'
  | 'DELETE /api/apps/{appId}/key/old'
> => {
  const { storage, deployment, now } = parts
  const findKey = (caller: Caller, appId: string): Promise<Key | undefined> =>
    storage.keys.findByApp({ appId, userId: requireViewer(caller).user.id })

  return {
    'PUT /api/apps/{appId}/key/expiry': async ({ params, body, caller }) => {
      const { appId } = params
      const { version, expiresAt } = body
      const expiry = readExpiry(expiresAt, now())
      if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
      const key = await findKey(caller, appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await changeWithAudit(
        parts,
        caller,
        ({ keys }) =>
          keys.edit({ id, userId, ...(version !== undefined && { appVersion: version }), expiresAt: expiry.at }),
        () => ({ action: 'key.edit', subject: id, detail: { expiresAt }, forget: { kind: 'app', id: appId } }),
      )
      if (changed === 'versionMoved') return { error: apiErrors.versionConflict() }
      return typeof changed === 'string' ? { error: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },

    'POST /api/apps/{appId}/key/reveal': async ({ params, caller }) => {
      const key = await findKey(caller, params.appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const revealed = await revealKey(parts, caller, key.id)
      if ('error' in revealed) return revealed
      const app = await storage.apps.find({ id: params.appId, userId: key.userId })
      if (app === undefined) return { error: apiErrors.notFound() }
      const { apiKey } = revealed
      return { response: { apiKey, urls: toAppUrls(deployment().publicUrl, app, apiKey) } }
    },

    'POST /api/apps/{appId}/key/rotate': async ({ params, body, caller }) => {
      const key = await findKey(caller, params.appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('error' in rotated) return rotated
      const { apiKey } = rotated
      const app = await showApp(parts, caller, { id: params.appId })
      if ('error' in app) return app
      const urls = toAppUrls(deployment().publicUrl, app.response, apiKey)
      return { response: { app: app.response, apiKey, urls } }
    },

    'DELETE /api/apps/{appId}/key/old': async ({ params, caller }) => {
      const { appId } = params
      const key = await findKey(caller, appId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await changeWithAudit(
        parts,
        caller,
        ({ keys }) => keys.dropOld({ id, userId }),
        () => ({ action: 'key.dropOld', subject: id, forget: { kind: 'app', id: appId } }),
      )
      return typeof changed === 'string' ? { error: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },
  }
}
