import { getApiKeyUrl } from '../../proxy/http/rpcUrls.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import type { Key } from '../../storage/keys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import type { ApiKeyView } from '../contract/apiKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import { requireViewer } from '../handler.ts'
import type { Caller, ControlParts, Handlers } from '../handler.ts'
import type { ApiError } from '../apiErrors.ts'
import { toApiKeyView, getKeyNetwork } from '../views/toApiKeyView.ts'
import { toNetworkProblem } from '../findNetworkProblems.ts'
import { createKey } from './createKey.ts'
import { revealKey } from './revealKey.ts'
import { rotateKey } from './rotateKey.ts'

/** The routes of API keys. */
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
  const toView = (key: Key): ApiKeyView => toApiKeyView(key, { publicUrl: deployment().publicUrl, now: now() })
  const getUrl = (key: Key, apiKey: string): string => getApiKeyUrl(deployment().publicUrl, getKeyNetwork(key), apiKey)
  /** Finds an API key of the account. Keys of apps are not API keys. */
  const find = async (caller: Caller, id: string): Promise<Key | undefined> => {
    const key = await storage.keys.find({ id, userId: requireViewer(caller).user.id })
    return key?.appId === null ? key : undefined
  }
  const toResult = (
    changed: Key | 'revoked' | 'versionMoved' | 'notFound',
  ): { response: ApiKeyView } | { error: ApiError } => {
    if (changed === 'notFound') return { error: apiErrors.notFound() }
    if (changed === 'revoked') return { error: apiErrors.revoked() }
    if (changed === 'versionMoved') return { error: apiErrors.versionConflict() }
    return { response: toView(changed) }
  }

  return {
    'GET /api/keys': async ({ caller }) => {
      const keys = await storage.keys.listApiKeys(requireViewer(caller).user.id)
      return { response: { items: keys.map(toView), max: maxApiKeys } }
    },

    'POST /api/keys': async ({ body, caller }) => {
      const expiry = readExpiry(body.expiresAt ?? null, now())
      const { name, network, description = '' } = body
      const { networks } = deployment()
      const offered = Object.hasOwn(networks, network) ? networks[network] : undefined
      const problems = [
        ...(offered === undefined ? [toNetworkProblem('network', networks)] : []),
        ...('problem' in expiry ? [expiry.problem] : []),
      ]
      if ('problem' in expiry || offered === undefined) return { error: apiErrors.invalid(problems) }
      const userId = requireViewer(caller).user.id
      const { apiKey, stored } = createKey(parts, { kind: offered.testnet ? 'testnet' : 'mainnet', userId })
      const key = await changeWithAudit(
        parts,
        caller,
        ({ keys }) =>
          keys.createApiKey({ userId, name, description, network, key: stored, expiresAt: expiry.at, now: now() }),
        ({ id }) => ({ action: 'key.create', subject: id, detail: { name, network } }),
      )
      if (key === 'slotsFull')
        return {
          error: apiErrors.tooMany(`This account has ${maxApiKeys} API keys, the maximum. Revoke one first.`),
        }
      if (key === 'notFound') return { error: apiErrors.notLoggedIn() }
      return { response: { key: toView(key), apiKey, url: getUrl(key, apiKey) } }
    },

    'GET /api/keys/{keyId}': async ({ params, caller }) => toResult((await find(caller, params.keyId)) ?? 'notFound'),

    'PATCH /api/keys/{keyId}': async ({ params, body, caller }) => {
      const { version, name, description, expiresAt, recordDetails } = body
      const expiry = readExpiry(expiresAt, now())
      if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
      const key = await find(caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const { version: _, ...detail } = body
      const changed = await changeWithAudit(
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
            ...(recordDetails === undefined ? {} : { recordDetails }),
          }),
        () => ({ action: 'key.edit', subject: id, detail, forget: { kind: 'key', id } }),
      )
      return toResult(changed)
    },

    'POST /api/keys/{keyId}/reveal': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      if (key.state === 'revoked') return { error: apiErrors.revoked() }
      const revealed = await revealKey(parts, caller, key.id)
      if ('error' in revealed) return revealed
      return { response: { apiKey: revealed.apiKey, url: getUrl(key, revealed.apiKey) } }
    },

    'POST /api/keys/{keyId}/rotate': async ({ params, body, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('error' in rotated) return rotated
      const { apiKey } = rotated
      return { response: { key: toView(rotated.key), apiKey, url: getUrl(rotated.key, apiKey) } }
    },

    'DELETE /api/keys/{keyId}/old': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const changed = await changeWithAudit(
        parts,
        caller,
        ({ keys }) => keys.dropOld({ id, userId }),
        () => ({ action: 'key.dropOld', subject: id, forget: { kind: 'key', id } }),
      )
      return toResult(changed)
    },

    'POST /api/keys/{keyId}/revoke': async ({ params, caller }) => {
      const key = await find(caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const revoked = await changeWithAudit(
        parts,
        caller,
        async ({ keys }) => {
          if (!(await keys.revoke({ id, userId, now: now() }))) return 'revoked'
          return (await keys.find({ id, userId })) ?? 'notFound'
        },
        () => ({ action: 'key.revoke', subject: id, forget: { kind: 'key', id } }),
      )
      return toResult(revoked)
    },
  }
}
