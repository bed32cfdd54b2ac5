import { getApiKeyUrl } from '../../proxy/http/rpcUrls.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import type { Key } from '../../storage/keys.ts'
import { change } from '../change.ts'
import type { ApiKeyView } from '../contract/apiKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../expiry.ts'
import { viewerOf } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import type { ApiError } from '../reply.ts'
import { toApiKeyView, networkOf } from '../views/toApiKeyView.ts'
import { newKey } from './newKey.ts'
import { revealKey } from './revealKey.ts'
import { rotateKey } from './rotateKey.ts'

/** API keys. */
export const apiKeyHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/keys'
  | 'POST /api/keys'
  | 'GET /api/keys/{keyId}'
  | 'PATCH /api/keys/{keyId}'
  | 'POST /api/keys/{keyId}/reveal'
  | 'POST /api/keys/{keyId}/rotate'
  | 'DELETE /api/keys/{keyId}/old'
  | 'POST /api/keys/{keyId}/revoke'
> => {
  const { storage, deployment, now } = parts
  const show = (key: Key): ApiKeyView => toApiKeyView(key, { publicUrl: deployment().publicUrl, now: now() })
  const addressOf = (key: Key, apiKey: string): string => getApiKeyUrl(deployment().publicUrl, networkOf(key), apiKey)
  /** An app's key is the app's, and is not found here. */
  const find = async (caller: Caller, id: string): Promise<Key | undefined> => {
    const key = await storage.keys.find({ id, userId: viewerOf(caller).user.id })
    return key?.appId === null ? key : undefined
  }
  const shown = (
    changed: Key | 'revoked' | 'versionMoved' | 'notFound',
  ): { answer: ApiKeyView } | { rejection: ApiError } => {
    if (changed === 'notFound') return { rejection: apiErrors.notFound() }
    if (changed === 'revoked') return { rejection: apiErrors.revoked() }
    if (changed === 'versionMoved') return { rejection: apiErrors.versionConflict() }
    return { answer: show(changed) }
  }

  return {
    'GET /api/keys': async ({ caller }) => {
      const keys = await storage.keys.listApiKeys(viewerOf(caller).user.id)
      return { answer: { items: keys.map(show), max: maxApiKeys } }
    },

    'POST /api/keys': async ({ body, caller }) => {
      const expiry = readExpiry(body.expiresAt ?? null, now())
      if ('problem' in expiry) return { rejection: apiErrors.invalid([expiry.problem]) }
      const { name, network, description = '' } = body
      const userId = viewerOf(caller).user.id
      const { apiKey, stored } = newKey(parts, { kind: network, userId })
      const key = await change(
        parts,
        caller,
        ({ keys }) => keys.createApiKey({ userId, name, description, key: stored, expiresAt: expiry.at, now: now() }),
        ({ id }) => ({ action: 'key.create', subject: id, detail: { name, network } }),
      )
      if (key === 'slotsFull')
        return {
          rejection: apiErrors.tooMany(`this account has ${maxApiKeys} API keys, which is the most: revoke one first`),
        }
      if (key === 'notFound') return { rejection: apiErrors.notLoggedIn() }
      return { answer: { key: show(key), apiKey, address: addressOf(key, apiKey) } }
    },

    'GET /api/keys/{keyId}': async ({ params, caller }) => shown((await find(caller, params.keyId)) ?? 'notFound'),

    'PATCH /api/keys/{keyId}': async ({ params, body, caller }) => {
      const { version, name, description, expiresAt } = body
      const expiry = readExpiry(expiresAt, now())
      if ('problem' in expiry) return { rejection: apiErrors.invalid([expiry.problem]) }
      const key = await find(caller, params.keyId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const { id, userId } = key
      const { version: _, ...detail } = body
      const changed = await change(
        parts,
        caller,
        ({ keys }) =>
          keys.edit({
            id,
            userId,
            version,
            ...(name === undefined ? {} : { name }),
            ...(description === undefined ? {} : { description }),
            ...(expiry.at === undefined ? {} : { expiresAt: expiry.at }),
          }),
        () => ({ action: 'key.edit', subject: id, detail, forget: { kind: 'key', id } }),
      )
      return shown(changed)
    },

    'POST /api/keys/{keyId}/reveal': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      if (key.state === 'revoked') return { rejection: apiErrors.revoked() }
      const revealed = await revealKey(parts, caller, key.id)
      if ('rejection' in revealed) return revealed
      return { answer: { apiKey: revealed.apiKey, address: addressOf(key, revealed.apiKey) } }
    },

    'POST /api/keys/{keyId}/rotate': async ({ params, body, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('rejection' in rotated) return rotated
      const { apiKey } = rotated
      return { answer: { key: show(rotated.key), apiKey, address: addressOf(rotated.key, apiKey) } }
    },

    'DELETE /api/keys/{keyId}/old': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await change(
        parts,
        caller,
        ({ keys }) => keys.dropOld({ id, userId }),
        () => ({ action: 'key.dropOld', subject: id, forget: { kind: 'key', id } }),
      )
      return shown(changed)
    },

    'POST /api/keys/{keyId}/revoke': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { rejection: apiErrors.notFound() }
      const { id, userId } = key
      const revoked = await change(
        parts,
        caller,
        async ({ keys }) => {
          if (!(await keys.revoke({ id, userId, now: now() }))) return 'revoked'
          return (await keys.find({ id, userId })) ?? 'notFound'
        },
        () => ({ action: 'key.revoke', subject: id, forget: { kind: 'key', id } }),
      )
      return shown(revoked)
    },
  }
}
