import type { Key } from '../../storage/keys.ts'
import { change } from '../change.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../expiry.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import { appAddressesOf } from '../views/toAppView.ts'
import { revealKey } from './revealKey.ts'
import { rotateKey } from './rotateKey.ts'
import { showApp } from './showApp.ts'

/** The keys of apps. */
export const appKeyHandlers = (
  parts: ControlParts,
): Handlers<
  | 'PUT /api/apps/{appId}/key/expiry'
  | 'POST /api/apps/{appId}/key/reveal'
  | 'POST /api/apps/{appId}/key/rotate'
  | 'DELETE /api/apps/{appId}/key/old'
> => {
  const { storage, deployment, now } = parts
  const keyOf = (caller: Caller, appId: string): Promise<Key | undefined> =>
    storage.keys.findByApp({ appId, userId: viewerOf(caller).user.id })

  return {
    'PUT /api/apps/{appId}/key/expiry': async ({ params, body, caller }) => {
      const { appId } = params
      const expiry = readExpiry(body.expiresAt, now())
      if ('problem' in expiry) return { rejection: apiErrors.invalid([expiry.problem]) }
      const key = await keyOf(caller, appId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await change(
        parts,
        caller,
        ({ keys }) => keys.edit({ id, userId, expiresAt: expiry.at }),
        () => ({ action: 'key.edit', subject: id, detail: { ...body }, forget: { kind: 'app', id: appId } }),
      )
      return typeof changed === 'string' ? { rejection: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },

    'POST /api/apps/{appId}/key/reveal': async ({ params, caller }) => {
      const key = await keyOf(caller, params.appId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const shown = await revealKey(parts, caller, key.id)
      if ('rejection' in shown) return shown
      const { apiKey } = shown
      return { answer: { apiKey, addresses: appAddressesOf(deployment().publicUrl, apiKey) } }
    },

    'POST /api/apps/{appId}/key/rotate': async ({ params, body, caller }) => {
      const key = await keyOf(caller, params.appId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('rejection' in rotated) return rotated
      const { apiKey } = rotated
      const app = await showApp(parts, caller, { id: params.appId })
      if ('rejection' in app) return app
      return { answer: { app: app.answer, apiKey, addresses: appAddressesOf(deployment().publicUrl, apiKey) } }
    },

    'DELETE /api/apps/{appId}/key/old': async ({ params, caller }) => {
      const { appId } = params
      const key = await keyOf(caller, appId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await change(
        parts,
        caller,
        ({ keys }) => keys.dropOld({ id, userId }),
        () => ({ action: 'key.dropOld', subject: id, forget: { kind: 'app', id: appId } }),
      )
      return typeof changed === 'string' ? { rejection: apiErrors.notFound() } : showApp(parts, caller, { id: appId })
    },
  }
}
